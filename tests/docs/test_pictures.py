"""The pictures of the dashboard in the documents."""

from pathlib import Path

from tests.docs.pages import PAGES, ROOT
from tests.support.dashboard_views import VIEWS

IMAGES = ROOT / "docs" / "img"
MOST_BYTES = 2_200_000


def taken() -> list[Path]:
    """Those that there are."""
    return sorted(IMAGES.glob("dashboard-*.png"))


def test_every_view_has_its_picture() -> None:
    """What scripts/screenshots takes is there, nothing else, and together they are no burden to a checkout."""
    assert {path.stem.removeprefix("dashboard-") for path in taken()} == set(VIEWS)
    assert sum(path.stat().st_size for path in taken()) < MOST_BYTES


def test_every_picture_is_shown() -> None:
    """A document shows each of them."""
    told = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in taken() if f"img/{path.name}" not in told] == []
