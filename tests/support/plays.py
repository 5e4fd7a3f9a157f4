"""Two real plays as chats. They lie beside the repository, so a user's machine has none."""

from pathlib import Path

import pytest

_DATA = Path(__file__).parents[3] / "shared" / "data"


def play_file(name: str) -> Path:
    """The file; skips the test where there is none."""
    path = _DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not here; put the plays into {_DATA.name}/ of a folder shared/ beside the checkout.")
    return path
