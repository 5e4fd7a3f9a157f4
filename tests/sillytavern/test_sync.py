"""The server's copy of a chat follows what a user does in SillyTavern."""

from typing import Any

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage


def history(turnfold: Service, tavern: TavernPage) -> list[dict[str, Any]]:
    """The open chat's messages as the server has them, once the page has sent all it knows."""
    path = "/scripts/extensions/third-party/turnfold/sync.js"
    tavern.js(f"async () => (await import('{path}')).settled(10000)")
    return list(turnfold.get(f"/chats/{tavern.chat_id}/messages?limit=1000").json()["items"])


@both_versions
def test_sent(tavern: TavernPage, turnfold: Service) -> None:
    """What is sent and answered arrives."""
    tavern.send("Hello.")
    assert [m["content"] for m in history(turnfold, tavern)] == tavern.texts
