"""``python -m livetools``: the command, where no script of it is on the path."""

from .cli.main import main

if __name__ == "__main__":
    main()
