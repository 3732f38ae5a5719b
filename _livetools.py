"""The script of the ``livetools`` command, beside the package: Ctrl-C ends it quietly while that is imported, too.

The import of ``livetools`` takes some tenths of a second, and what stands in the package is imported behind it.
"""

import sys


def main() -> None:
    """Run the command. Ctrl-C ends it without a traceback, with the exit code that shells give."""
    try:
        from livetools.cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()
