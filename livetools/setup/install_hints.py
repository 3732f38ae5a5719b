"""How the optional dependencies of livetools are installed, in words: for errors and for pages."""

from __future__ import annotations


def install(extra: str) -> str:
    """The command that installs an extra: ``pip install 'PATH/TO/CLONE[web]'``.

    The package is on no registry, so pip is given the folder of a clone. A project's own tool takes the same
    words: ``uv pip install 'PATH/TO/CLONE[web]'``.
    """
    return f"pip install 'PATH/TO/CLONE[{extra}]'"
