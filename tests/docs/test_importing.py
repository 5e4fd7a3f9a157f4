"""What docs/importing.md says of warnings is what imports give."""

import ast
from collections.abc import Iterator
from pathlib import Path

from app.core.adoption import NOT_TAKEN
from app.formats.recognize import READERS
from tests.docs.pages import ROOT, code, table

PAGE = ROOT / "docs" / "importing.md"
SOURCES = [path for folder in ("core", "formats", "services") for path in sorted((ROOT / "app" / folder).glob("*.py"))]


def codes_of(path: Path) -> Iterator[str]:
    """What a module warns of: log.add("code", …), log.summarize("code", …), Warning("code", …), Repair("code", …)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        called = ast.unparse(node.func).rsplit(".", 1)
        if called[-1] in ("Warning", "Repair") or (called[-1] in ("add", "summarize") and called[0].endswith("log")):
            yield str(node.args[0].value)


def test_every_warning_is_explained() -> None:
    """The tables name each code that an import can give, and no other."""
    given = {found for path in SOURCES for found in codes_of(path)} | {NOT_TAKEN}
    told = [name for row in table(PAGE, "code") for name in code(row[0])]
    assert len(told) == len(set(told))
    assert {*told, "more"} == given


def test_every_format_is_named() -> None:
    """For each reader there is a kind of file."""
    assert len(table(PAGE, "from", "file")) == len(READERS) + 2  # our own, and memories
