"""docs/comparing.md: figures, and a chart that anybody can open."""

from dataclasses import fields
from xml.etree import ElementTree

from app.core.comparison import Account, Moment
from tests.docs.pages import ROOT, code, table

PAGE = ROOT / "docs" / "comparing.md"


def test_every_figure_is_explained() -> None:
    """The table's names are those of the JSON, and none is missing."""
    rows = table(PAGE, "figure", "in `--json`")
    named = {name for row in rows for cell in row[1:] for name in code(cell)}
    assert named == {field.name for field in fields(Account)} - {"strategy"}
    assert {"sent", "memory", "verbatim"} <= {field.name for field in fields(Moment)}


def test_the_chart_is_whole_and_told_in_words() -> None:
    """It is a picture with a description, without scripts."""
    picture = ElementTree.parse(ROOT / "docs" / "img" / "compare.svg").getroot()
    assert picture.attrib["role"] == "img"
    assert "741 turns" in (picture[0].text or "")
    assert not [element for element in picture.iter() if element.tag.endswith("script")]


def test_the_run_is_the_charts() -> None:
    """Medians and peaks of the page's output are those that the chart tells of."""
    told = ElementTree.parse(ROOT / "docs" / "img" / "compare.svg").getroot()[0].text or ""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for strategy in ("layered", "rolling", "summary_buffer", "none"):
        median, peak = next(line.split()[1:3] for line in lines if line.startswith(f"{strategy} "))
        assert f"{strategy}: median {median}, at most {peak}" in told
