"""What the documents show of the extension in SillyTavern can be shown."""

from pathlib import Path

from tests.support.tavern import ROOT, SillyTavern
from tests.support.tavern_views import VIEWS, staged

TURNS = 60
IMAGES = ROOT / "docs" / "img"


def test_every_view_is_there(tmp_path: Path, sillytavern: SillyTavern) -> None:
    """Each view that scripts/screenshots takes a picture of comes up, has some size, and has a picture in docs/img."""
    with staged(tmp_path, sillytavern, TURNS) as stage:
        for name, view in VIEWS.items():
            box = view(stage).bounding_box()
            assert box, name
            assert box["width"] > 300, name
            assert box["height"] > 100, name
    assert {path.stem.removeprefix("sillytavern-") for path in IMAGES.glob("sillytavern-*.png")} == set(VIEWS)
