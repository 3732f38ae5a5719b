"""What the documentation takes from the code: pages of models, tables of closes, events, errors and states, pictures.

``python docs/generate.py`` writes the pages, the pictures and the tables that stand in docs/ (between
``<!-- generated: NAME -->`` and ``<!-- end -->``); ``python docs/generate.py --check`` lists those that are out of
date; ``python docs/generate.py site`` writes what only the built site has: ``llms.txt``, ``reference.md``, and each
page as Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import generate_comparison  # noqa: E402
import generate_diagrams  # noqa: E402
import generate_models  # noqa: E402
import generate_site  # noqa: E402
import generate_tables  # noqa: E402

MARK = re.compile(r"(<!-- generated: (?P<name>[\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


TABLES: Mapping[str, Callable[[], str]] = {
    **generate_tables.TABLES,
    **generate_comparison.TABLES,
    "behavior-by-model": generate_models.behavior_table,
}


def wanted() -> dict[Path, str]:
    """Every page that holds something generated, and every picture, as it should be."""
    pages = {DOCS / name: text for name, text in generate_models.pages().items()}
    pages |= {DOCS / "images" / name: text for name, text in generate_diagrams.pictures().items()}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path not in pages and MARK.search(text):
            pages[path] = filled(text, TABLES)
    return pages


def filled(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The page with each of its marked places filled. Raises ``KeyError`` for a mark that nothing fills."""
    return MARK.sub(lambda mark: f"{mark[1]}\n{tables[mark['name']]().strip()}\n\n{mark[3]}", text)


def stale() -> dict[Path, str]:
    """The pages that are not as they should be, with what they should be."""
    return {
        path: text
        for path, text in wanted().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(args: list[str]) -> int:
    if args and args[0] != "--check":
        return generate_site.write(DOCS, Path(args[0]))
    pages = stale()
    for path, text in pages.items():
        print(path.relative_to(DOCS.parent))
        if not args:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if args and pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
