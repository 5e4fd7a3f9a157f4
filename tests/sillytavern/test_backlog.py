"""An old chat is opened: the question, each answer with its cost, the progress, and every way it can end."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage
from tests.support.tavern_story import in_sync, open_story, story

BACKLOG = "dialog[open] .turnfold-backlog"
PROGRESS = ".turnfold-progress"
GONE = "() => !document.querySelector('dialog[open]')"
TOLD = "text => document.querySelector('#toast-container')?.textContent.includes(text)"
FAR = "text => document.querySelector('.turnfold-progress')?.textContent.includes(text)"


@pytest.fixture(scope="module")
def turnfold_settings() -> dict[str, Any]:
    """Failures are tried again at once here."""
    return {"retry_attempts": 2, "retry_base_s": 0.01}


@pytest.fixture(scope="module", autouse=True)
def writer(turnfold: Service) -> Iterator[FakeModel]:
    """The model that the server calls, through the connection `default`; one call at a time."""
    with FakeModel(lambda _: "Mira walks on; Tom has the brass key.") as model:
        connect(turnfold, model)
        yield model


@pytest.fixture(autouse=True)
def nothing_held(writer: FakeModel) -> Iterator[None]:
    """A test that fails leaves the next one a model that answers."""
    yield
    writer.release()


def connect(turnfold: Service, model: FakeModel) -> None:
    """Give the connection anew: what happened on it before is forgotten."""
    spec = {"provider": "openai", "base_url": model.base_url, "model": "small-1", "concurrency": 1}
    assert turnfold.put("/connections/default", spec).is_success


def opened(tavern: TavernPage, name: str, turns: int = 40) -> str:
    """An old chat, opened, with the question on the screen."""
    chat = open_story(tavern, name, story(turns))
    in_sync(tavern)
    tavern.page.wait_for_selector(BACKLOG)
    return chat


def choose(tavern: TavernPage, choice: str) -> None:
    """Press one of the three choices."""
    tavern.page.click(f"{BACKLOG} [data-choice={choice}]")
    tavern.until("() => !document.querySelector('.turnfold-backlog')")


@both_versions
def test_the_question_says_what_each_answer_costs(tavern: TavernPage, turnfold: Service) -> None:
    """Calls, input tokens and the model are named; `Not now` leaves all as it is, and the question is not repeated."""
    chat = opened(tavern, "asked")
    shown = tavern.page.inner_text(BACKLOG)
    words = turnfold.post(f"/chats/{chat}/commands", {"command": "/sc-backlog"}).json()["text"]
    backlog = turnfold.status(chat)["backlog"]
    calls, tokens = backlog["estimated_calls"], backlog["estimated_input_tokens"]
    assert words.split("\nChoose:")[0] in shown
    assert f"About {calls} calls to small-1, with {tokens:,} input tokens in all." in shown
    assert f"About 1 call to small-1, with {round(tokens / calls):,} input tokens." in shown
    tavern.page.click("dialog[open] .popup-button-ok")
    tavern.until(GONE)
    assert turnfold.status(chat)["backlog"]["choice_needed"]
    tavern.send("Go on.")
    in_sync(tavern)
    assert tavern.page.locator("dialog[open]").count() == 0


def test_the_question_disturbs_nobody(tavern: TavernPage) -> None:
    """It waits until another dialog is closed."""
    tavern.js("() => { void SillyTavern.getContext().callGenericPopup('Something else', 1); }")
    open_story(tavern, "disturbed", story(40))
    in_sync(tavern)
    tavern.js("new Promise((done) => setTimeout(done, 600))")  # longer than it takes to be asked
    assert tavern.page.locator(".turnfold-backlog").count() == 0
    tavern.page.click("dialog[open] .popup-button-ok")
    tavern.page.wait_for_selector(BACKLOG)
    tavern.page.keyboard.press("Escape")
    tavern.until(GONE)


@both_versions
def test_all_folds_with_a_bar_that_can_be_put_aside(tavern: TavernPage, turnfold: Service, writer: FakeModel) -> None:
    """The bar counts batches, goes on as a toast, comes back large, and its end is told as it was."""
    chat = opened(tavern, "all")
    writer.hold()
    choose(tavern, "all")
    tavern.page.wait_for_selector(f"dialog[open] {PROGRESS}")
    tavern.until(FAR, "10 batches")
    tavern.page.click(f"dialog[open] {PROGRESS} >> text=Go on in the background")
    tavern.page.wait_for_selector(f"#toast-container {PROGRESS}")
    tavern.page.click(f"#toast-container {PROGRESS} >> text=Larger")
    tavern.page.wait_for_selector(f"dialog[open] {PROGRESS}")
    writer.release()
    tavern.until(TOLD, "Folded 10 of 10 batches, with 10 calls.")
    tavern.until(GONE)
    assert tavern.page.locator(PROGRESS).count() == 0
    tavern.until("() => document.querySelectorAll('.turnfold-ghost').length === 59")
    assert turnfold.status(chat)["counts"]["ghosted"] == 59


def test_one_folds_a_single_batch(tavern: TavernPage, turnfold: Service) -> None:
    """One batch of turns is ghosted, and no more."""
    chat = opened(tavern, "one")
    choose(tavern, "one")
    tavern.until(TOLD, "Folded 1 of 1 batch, with 1 call.")
    assert turnfold.settled(chat)["layers"][0]["snippets"] == 1


def test_skip_leaves_them(tavern: TavernPage, turnfold: Service) -> None:
    """The server's words tell it; nothing is ghosted and nothing asked again."""
    chat = opened(tavern, "skip")
    choose(tavern, "skip")
    tavern.until(TOLD, "turns stay as they are: nothing is hidden")
    found = turnfold.status(chat)
    assert (found["counts"]["skipped"] > 0, found["backlog"]["choice_needed"]) == (True, False)


def test_stop_cuts_the_call_and_keeps_what_is_folded(tavern: TavernPage, turnfold: Service, writer: FakeModel) -> None:
    """After the press nothing runs; the batches before it stay."""
    chat = opened(tavern, "stopped")
    before = len(writer.calls)
    writer.hold()
    choose(tavern, "all")
    writer.wait_for_calls(before + 1)
    tavern.page.click(f"{PROGRESS} >> text=Stop")
    tavern.until(TOLD, "Stopped after 0 of 10 batches; what is folded stays.")
    writer.release()
    tavern.until(GONE)
    assert turnfold.status(chat)["job"] is None


def test_a_job_is_found_again_after_a_reload_and_a_switch(tavern: TavernPage, writer: FakeModel) -> None:
    """Its progress belongs to its chat: gone with another chat, back with it, and with a page that is loaded anew."""
    opened(tavern, "resumed")
    name = tavern.chat_name
    writer.hold()
    choose(tavern, "all")
    tavern.page.wait_for_selector(f"dialog[open] {PROGRESS}")
    tavern.page.click(f"dialog[open] {PROGRESS} >> text=Go on in the background")
    tavern.until(GONE)
    tavern.new_chat()
    tavern.until("() => !document.querySelector('.turnfold-progress')")
    tavern.open_chat(name)
    tavern.page.wait_for_selector(f"#toast-container {PROGRESS}")
    tavern.load()
    tavern.open("Seraphina")
    if tavern.chat_name != name:
        tavern.open_chat(name)
    tavern.page.wait_for_selector(f"#toast-container {PROGRESS}")
    writer.release()
    tavern.until(TOLD, "Folded 10 of 10 batches")


@pytest.mark.parametrize(
    ("code", "cause"),
    [(401, "401 Unauthorized: check its API key."), (404, "404 Not Found: check its base URL and its model.")],
)
def test_a_refusing_model_is_named(
    tavern: TavernPage, turnfold: Service, writer: FakeModel, code: int, cause: str
) -> None:
    """The real cause and the next step are told; nothing is folded."""
    connect(turnfold, writer)
    chat = opened(tavern, f"refused {code}")
    with writer.only(status(code)):
        choose(tavern, "all")
        tavern.until(TOLD, cause)
    told = " ".join(tavern.toasts())
    assert "Folding failed." in told
    assert "The next message tries it again, and so does /sc-summarize." in told
    assert turnfold.settled(chat)["counts"]["ghosted"] == 0


@pytest.mark.parametrize("code", [429, 500])
def test_a_model_that_is_busy_or_broken_is_tried_again_by_itself(
    tavern: TavernPage, turnfold: Service, writer: FakeModel, code: int
) -> None:
    """The cause is told with the time of the next attempt, whatever the server makes of the status."""
    connect(turnfold, writer)
    opened(tavern, f"busy {code}")
    with writer.only(status(code, retry_after=600 if code == 429 else None)):
        choose(tavern, "all")
        tavern.until(TOLD, f"answered {code}", seconds=30)
        tavern.until(TOLD, "It is tried again by itself at ")


def test_errors_in_the_background_are_told_once(tavern: TavernPage, turnfold: Service, writer: FakeModel) -> None:
    """A fold that was asked for elsewhere fails with a toast that names the cause; the same cause again is quiet."""
    connect(turnfold, writer)
    chat = opened(tavern, "background")
    tavern.page.click("dialog[open] .popup-button-ok")
    tavern.until(GONE)
    with writer.only(status(401)):
        for _ in range(2):
            assert turnfold.post(f"/chats/{chat}/backlog", {"choice": "one"}).status_code == 202
            turnfold.settled(chat)
        tavern.until(TOLD, "check its API key. Nothing is lost: the turns stay as they are.")
    assert sum("check its API key" in told for told in tavern.toasts()) == 1
