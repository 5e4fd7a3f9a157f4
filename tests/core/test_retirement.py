"""When too few turns are left verbatim."""

import pytest

from app.core.model import Message, Role
from app.core.retirement import turns_to_uncover, window_turns
from app.core.settings import LayeredSettings
from app.core.turns import outline


def _turns(count: int, first: int = 0, *, pinned: bool = False) -> list[Message]:
    roles = (Role.USER, Role.ASSISTANT)
    return [Message(i + 1, i, roles[i % 2], 5, pinned=pinned) for i in range(first, first + 2 * count)]


@pytest.mark.parametrize(("visible", "wanted"), [(10, 0), (5, 0), (4, 6), (0, 10)])
def test_only_under_half_of_the_window(visible: int, wanted: int) -> None:
    """Memory gives way when fewer than half of the ten newest turns are visible, until ten are."""
    view = outline(_turns(visible, 20), 20 + 2 * visible)
    assert turns_to_uncover(view, LayeredSettings()) == wanted


def test_older_visible_turns_do_not_count() -> None:
    """Turns before covered ones are not in the window."""
    view = outline([*_turns(8), *_turns(3, 30)], 36)
    assert window_turns(view) == 3


def test_nothing_after_the_newest_snippet() -> None:
    """Where the chat ends with a covered turn no window turn is visible."""
    assert window_turns(outline(_turns(8), 20)) == 0


def test_pinned_turns_do_not_count() -> None:
    """A turn with nothing to cover is no turn of the window."""
    assert window_turns(outline(_turns(4, 20, pinned=True), 28)) == 0


def test_compat_lets_it_be() -> None:
    """The original's window is eaten into on purpose."""
    assert turns_to_uncover(outline(_turns(1, 20), 22), LayeredSettings(window="compat")) == 0
