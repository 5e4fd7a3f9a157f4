"""Node for the tests of JavaScript, the packaged extension, and what comes of play.mjs wherever it runs."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import javascript


@pytest.fixture(scope="session")
def node() -> str:
    """The program node."""
    return javascript.node()


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the extension as users have it."""
    return javascript.package(tmp_path_factory.mktemp("packaged") / "turnfold")


@pytest.fixture
def played() -> dict[str, Any]:
    """What play.mjs makes of a server with a key, be it in Node, in a bundle or in a browser."""
    written = {"title": "The gates", "appended": 4, "edited": True, "synced": [3, 1, 2]}
    read = {
        "found": ["u0", "a0", "u1", "a1", "u2", "a2"],
        "first": {"role": "system", "content": "Be Tom."},
        "budget": 4000,
        "last": "And now?",
        "hit": "a2",
        "memory": "",
        "line": True,
    }
    folded = {
        "asked": True,
        "state": "succeeded",
        "progress": 100,
        "told": ["chat", "history", "job", "summarized"],
        "ghosted": 60,
        "stopped": False,
        "lines": True,
    }
    refused = ["404 not_found", "422 invalid_request", "409 conflict", "404 not_found", "422 invalid_request"]
    failed = {"errors": [*refused, "401 unauthorized"], "place": ["body", "messages", 0, "content"]}
    ended = {"ending": "end", "over": True, "gone": 404}
    return {**written, **read, **folded, **failed, **ended}
