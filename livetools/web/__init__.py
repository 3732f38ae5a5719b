"""The client of a page, in TypeScript: its source in ``src``, the modules that a browser loads in ``dist``.

``livetools.integrations.starlette.relay`` serves ``dist`` beside its websocket. Elsewhere it is static files.
"""

from __future__ import annotations

from pathlib import Path

#: The folder with the built modules and their types.
BUILT = Path(__file__).with_name("dist")
