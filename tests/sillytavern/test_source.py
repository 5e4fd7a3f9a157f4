"""SillyTavern's own model writes the summaries: a backlog, and all that comes in between."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Route

from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang, status
from tests.support.lender import MEMORY, Lender
from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage

TURNS = 6  # of which two stay


@pytest.fixture(scope="module")
def turnfold_settings() -> dict[str, Any]:
    """What fails is asked again soon."""
    return {"retry_base_s": 0.2}


@pytest.fixture
def lender(tavern: TavernPage, turnfold: Service, model: FakeModel) -> Iterator[Lender]:
    """A page whose SillyTavern lends its model to all chats."""
    lender = Lender(tavern, turnfold, model)
    assert turnfold.patch("/settings", MEMORY).status_code == 200
    lender.choose()
    yield lender
    lender.end()


class Refusals:
    """Lets the server fail once where calls are asked for, and twice where one is answered; `seen`: those methods."""

    def __init__(self, lender: Lender) -> None:
        self.seen: list[str] = []
        self.left = {"GET": [503], "POST": [429, 503]}
        lender.tavern.page.route(re.compile(r"/v1/client-calls(\?|/[^/]+$)"), self._fail)

    def _fail(self, route: Route) -> None:
        left = self.left.get(route.request.method)
        if not left:
            return route.fallback()
        self.seen.append(route.request.method)
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
        route.fulfill(status=left.pop(0), headers={**headers, "Retry-After": "1"}, json={"detail": "Busy."})


@both_versions
def test_a_backlog_folds_with_sillytaverns_model(lender: Lender) -> None:
    """Every batch is asked of the model with the server's two messages alone, and SillyTavern is as it was."""
    before, asked = lender.state(), len(lender.summaries())
    chat = lender.begin(TURNS)
    status = lender.settled(chat)
    assert status["counts"]["ghosted"] == 2 * (TURNS - 2)
    assert [one["role"] for one in lender.summaries()[-1].messages] == ["system", "user"]
    assert len(lender.summaries()) - asked == status["layers"][0]["snippets"]
    assert lender.shown() == {"kind": "main", "profile": "", "connection": "SillyTavern", "note": ""}
    assert lender.state() == before


@both_versions
def test_the_users_generation_comes_first(lender: Lender) -> None:
    """What a user sends cuts the summary at once, is answered, and the summary is asked again afterwards."""
    before, asked, gone = lender.state(), len(lender.summaries()), lender.model.disconnects
    lender.model.do(hang())
    chat = lender.begin(TURNS)
    lender.asked(asked)
    lender.model.forget_script()
    assert "Anna says" in lender.tavern.send("And now?")
    assert lender.model.disconnects == gone + 1
    assert lender.settled(chat)["counts"]["ghosted"] == 2 * (TURNS - 1)
    assert lender.state() == before


@both_versions
def test_a_stop_cuts_the_model(lender: Lender) -> None:
    """Stopped in the middle of a summary, the model is cut, asked nothing more, and SillyTavern is as it was."""
    before, asked, gone = lender.state(), len(lender.summaries()), lender.model.disconnects
    lender.model.do(hang())
    chat = lender.begin(TURNS)
    lender.asked(asked)
    assert lender.turnfold.post(f"/chats/{chat}/stop", {}).status_code == 200
    lender.until(lambda: lender.model.disconnects == gone + 1)
    assert lender.turnfold.status(chat)["job"] is None
    assert len(lender.summaries()) == asked + 1
    assert lender.state() == before


def test_a_reload_in_the_middle(lender: Lender) -> None:
    """A page that is left gives its call back at once; it waits, the status says for whom, and goes on later."""
    asked, gone = len(lender.summaries()), lender.model.disconnects
    lender.model.do(hang())
    chat = lender.begin(TURNS)
    name = lender.tavern.chat_name
    lender.asked(asked)
    lender.tavern.page.goto("about:blank")
    lender.until(lambda: lender.model.disconnects == gone + 1)
    lender.until(lambda: (lender.waiting(chat) or {}).get("leased") == 0)
    said = lender.turnfold.post(f"/chats/{chat}/commands", {"command": "/sc-status"}).json()["text"]
    assert "Waiting for SillyTavern: 1 prompt" in said
    lender.tavern.load()
    lender.tavern.open("Seraphina")
    lender.tavern.open_chat(name)
    assert lender.settled(chat)["counts"]["ghosted"] == 2 * (TURNS - 2)


def test_a_failing_api_is_asked_again(lender: Lender) -> None:
    """What the user's API refuses is told to the server, which asks again later until it is answered."""
    asked = len(lender.summaries())
    lender.model.do(status(429), status(500))
    chat = lender.begin(TURNS)
    found = lender.settled(chat)
    assert found["counts"]["ghosted"] == 2 * (TURNS - 2)
    assert len(lender.summaries()) - asked == found["layers"][0]["snippets"] + 2
    assert lender.tavern.toasts() == []


def test_what_the_server_cannot_take_is_told_again(lender: Lender) -> None:
    """The server fails or is busy when it is asked for a call and told its answer: no call and no answer is lost."""
    lender.tavern.expect_errors("503", "429")
    refused = Refusals(lender)
    asked = len(lender.summaries())
    found = lender.settled(lender.begin(TURNS - 3))
    assert found["counts"]["ghosted"] == 2
    assert len(lender.summaries()) == asked + 1
    assert refused.seen == ["GET", "POST", "POST"]


def test_a_call_that_is_withdrawn_is_cut(lender: Lender) -> None:
    """A summary whose connection changes in the middle is cut and asked anew, and the console says nothing of it."""
    asked, gone = len(lender.summaries()), lender.model.disconnects
    lender.model.do(hang())
    chat = lender.begin(TURNS)
    lender.asked(asked)
    changed = {"provider": "client", "timeout_s": 600, "temperature": 0.5}
    assert lender.turnfold.put("/connections/SillyTavern", changed).is_success
    lender.until(lambda: lender.model.disconnects == gone + 1, seconds=10)
    assert lender.settled(chat)["counts"]["ghosted"] == 2 * (TURNS - 2)


def test_another_chat_is_opened_in_the_middle(lender: Lender) -> None:
    """A backlog goes on when the user looks at another chat, and that one's own is answered too."""
    asked = len(lender.summaries())
    first = lender.begin(TURNS)
    lender.asked(asked)
    second = lender.begin(TURNS - 1)
    for chat in (first, second):
        assert lender.settled(chat)["counts"]["ghosted"] > 0
        assert lender.waiting(chat) is None


def test_offline_waits(lender: Lender) -> None:
    """While SillyTavern has no model nothing is taken, and the panel says what to do; with one it goes on."""
    asked = len(lender.summaries())
    online = "value => import('/script.js').then((script) => script.setOnlineStatus(value))"
    before = lender.tavern.js("SillyTavern.getContext().onlineStatus")
    lender.tavern.js(online, "no_connection")
    chat = lender.begin(TURNS)
    lender.until(lambda: (lender.waiting(chat) or {}).get("calls", 0) > 0)
    lender.until(lambda: lender.shown()["note"] == "Waiting: connect SillyTavern to a model.")
    assert len(lender.summaries()) == asked
    lender.tavern.js(online, before)
    assert lender.settled(chat)["counts"]["ghosted"] == 2 * (TURNS - 2)
