"""The chart of a comparison."""

from importlib.util import find_spec
from xml.etree import ElementTree

import pytest

from app.cli.comparing import STRATEGIES
from app.cli.comparing.picture import draw, ticks
from app.cli.comparing.report import Played
from app.core.comparison import Moment


def played(file: str = "Mira.jsonl", turns: int = 30) -> Played:
    moments = [Moment(turn, 100 * turn, 0, turn - 1, 0, 90 * turn, 0, 0, 0) for turn in range(1, turns + 1)]
    return Played(file, "nobody", 7168, dict.fromkeys(STRATEGIES, moments))


def test_it_needs_nothing_from_elsewhere() -> None:
    """No script, no link, no address but the names of XML's own vocabularies."""
    picture = draw(played())
    addresses = {address for address in picture.replace("'", '"').split('"') if "//" in address}
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in picture
    assert "@import" not in picture


def test_it_has_a_line_a_strategy() -> None:
    """Every strategy and the budget are drawn and named."""
    texts = {element.text for element in ElementTree.fromstring(draw(played())).iter()}
    assert {*STRATEGIES, "budget"} <= texts


def test_it_is_told_in_words() -> None:
    """Who does not see it hears what it is and what it shows."""
    picture = ElementTree.fromstring(draw(played()))
    assert picture.attrib["role"] == "img"
    assert (picture[0].text or "").startswith("30 turns, budget 7,168 tokens. layered: median 1,550, at most 3,000;")


def test_pygal_leaves_no_importer_behind() -> None:
    """After it is loaded, to look for a module that is not there warns of nothing."""
    assert find_spec("no_such_module_anywhere") is None


def test_it_has_colours_for_a_dark_page() -> None:
    """A page that is dark gets a dark picture."""
    assert "prefers-color-scheme:dark" in draw(played())


def test_the_same_figures_give_the_same_picture() -> None:
    """Nothing in it is random or of its day."""
    assert draw(played()) == draw(played())


def test_a_files_name_is_text() -> None:
    """A file's name cannot become a part of the picture."""
    picture = ElementTree.fromstring(draw(played("/chats/<script>x</script>\x1b.jsonl")))
    assert not [element for element in picture.iter() if element.tag.endswith("script")]


@pytest.mark.parametrize(
    ("last", "shown"),
    [(1, [1]), (2, [1, 2]), (9, [1, 2, 4, 6, 9]), (100, [1, 20, 40, 60, 80, 100])],
)
def test_ticks_are_round(last: int, shown: list[int]) -> None:
    """The axis names round turns, and the first and the last."""
    assert ticks(last) == shown


@pytest.mark.parametrize("last", [1, 7, 8, 9, 99, 939, 1000, 12345])
def test_ticks_are_few(last: int) -> None:
    """However long the chat, ten labels are the most, each once, in order."""
    found = ticks(last)
    assert found == sorted(set(found))
    assert len(found) <= 10
