"""What file-format.md says of our own format is what the program reads and writes."""

import json
import re

import pytest

from app.formats.turnfold import CHAT_SHAPE, PARTS, VERSION
from app.formats.turnfold_fields import Shape
from app.formats.turnfold_reading import read_turnfold
from app.services.exporting import FORMATS
from tests.docs.pages import ROOT, blocks, code, table
from tests.formats.files import jsonl

PAGE, EXPORTING = ROOT / "docs" / "file-format.md", ROOT / "docs" / "exporting.md"


@pytest.mark.parametrize(("part", "shape"), [("chat", CHAT_SHAPE), *PARTS.items()])
def test_every_field_is_explained(part: str, shape: Shape) -> None:
    """The table of each part names its fields, none more, and those in bold are those that must be there."""
    cells = [row[0] for row in table(PAGE, f"of `{part}`")]
    assert sorted(name for cell in cells for name in code(cell)) == sorted(shape.fields)
    bold = [name for cell in cells for name in re.findall(r"\*\*`(\w+)`\*\*", cell)]
    assert sorted(bold) == sorted(shape.required)


def test_every_part_is_named() -> None:
    """The list of parts is the program's, and so is the version."""
    text = PAGE.read_text(encoding="utf-8")
    listed = re.search(r"which names the part\*\*: ([^.]+)\.", text)
    assert listed is not None
    assert code(listed[1]) == list(PARTS)
    assert text.startswith(f"# Our own file format, version {VERSION}\n")


def test_the_example_is_a_whole_file() -> None:
    """The lines that the page imports are read without a warning."""
    [script] = [block.text for block in blocks(PAGE) if block.kind == "sh"]
    lines = [json.loads(line) for line in re.findall(r"^  ?(\{.*\})'?$", script, re.M)]
    file = read_turnfold(jsonl(*lines))
    assert len(list(file.records)) == len(lines) - 2
    assert file.warnings == []


def test_every_format_is_explained() -> None:
    """The formats of the page on exports are those that can be asked for."""
    assert [code(row[0])[0] for row in table(EXPORTING, "`format`")] == list(FORMATS)
