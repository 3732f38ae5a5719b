"""Reads a YAML file; the error for one that cannot be read is a single line."""

from __future__ import annotations

from pathlib import Path


def read_yaml(path: str | Path) -> object:
    """What the file holds. ``ValueError`` that names it for what is not YAML, ``OSError`` as from ``open``.

    ``ImportError`` where PyYAML is missing.
    """
    import yaml

    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # the last four are PyYAML's for a date without its day, a !!bool that is not one, too many brackets
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
