"""Reads a YAML file; the error for one that cannot be read is a single line."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read_yaml(path: str | Path) -> object:
    """What the file holds. ``ValueError`` that names it for what is not YAML, ``OSError`` as from ``open``.

    A mapping with the same key twice is an error: YAML forbids it, and PyYAML would drop the first silently.
    ``ImportError`` where PyYAML is missing.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def flatten_mapping(
            self, node: Any
        ) -> None:  # before the keys of `<<` are merged, which may repeat one
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value != "<<" and keys.count(key.value) > 1:
                    line = key.start_mark.line + 1
                    raise ValueError(f"line {line}: one mapping has the key {key.value!r} twice")
            super().flatten_mapping(node)

    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # the last four are PyYAML's for a date without its day, a !!bool that is not one, too many brackets
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
