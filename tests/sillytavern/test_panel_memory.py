"""A chat's memory in the panel: the picture, the snippets and what is done with them, files out and in."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.support.service import Service
from tests.support.tavern import line
from tests.support.tavern_page import TavernPage
from tests.support.tavern_panel import Panel

TURNS = 14
HOSTILE = '<img src=x onerror="globalThis.tfHacked = 1"><b>{{char}}</b> & "quoted"\n\nsecond line'
names = count(1)


@pytest.fixture(scope="module", autouse=True)
def folding(turnfold: Service) -> None:
    """The server folds old chats unasked, and keeps two turns."""
    layered = {"verbatim_turns": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}
    answer = turnfold.patch("/settings", {"on_backlog": "all", "layered": layered})
    assert answer.status_code == 200, answer.text


@pytest.fixture
def panel(tavern: TavernPage, turnfold: Service) -> Iterator[Panel]:
    """The panel over a chat with a memory of two layers."""
    lines = [
        one
        for turn in range(TURNS)
        for one in (line("user", f"I ask about gate {turn}."), line("assistant", f"She opens gate {turn} with a key."))
    ]
    tavern.open_chat(tavern.tavern.seed_chat("Seraphina", f"remembered {next(names)}", lines))
    panel = Panel(tavern)
    panel.until(lambda: snippets(panel, turnfold) and turnfold.status(tavern.chat_id)["job"] is None)
    panel.until_title("Up to date")
    yield panel
    if panel.dialog().is_visible():
        panel.close_dialog()


def snippets(panel: Panel, turnfold: Service) -> list[dict[str, Any]]:
    """The chat's live snippets as the server has them."""
    answer = turnfold.get(f"/chats/{panel.tavern.chat_id}/snippets")
    return answer.json()["items"] if answer.status_code == 200 else []


def cards(panel: Panel) -> Locator:
    """The snippets in the dialog that is open."""
    return panel.dialog().locator(".tf-snippet")


def bring(panel: Panel, name: str, content: bytes) -> None:
    """Choose a file to import."""
    panel.part("file").set_input_files({"name": name, "mimeType": "application/json", "buffer": content})


def open_list(panel: Panel, turnfold: Service) -> list[dict[str, Any]]:
    """Opens the list; gives what is in it."""
    found = snippets(panel, turnfold)
    panel.press("Snippets")
    panel.until(lambda: cards(panel).count() == len(found))
    return found


def test_the_picture(panel: Panel, turnfold: Service) -> None:
    """The picture tells how many messages are ghosted and how full each layer is; the memory is shown as it is sent."""
    chat = panel.tavern.chat_id
    status = turnfold.status(chat)
    ghosted = f"{status['counts']['ghosted']} ghosted, {status['counts']['visible']} visible"
    panel.part("picture").get_by_label(ghosted).wait_for()
    for layer in status["layers"]:
        panel.part("picture").get_by_label(
            f"Layer {layer['layer']}: {layer['snippets']} of {layer['limit']}"
        ).wait_for()
    panel.section("injection")
    preview = turnfold.get(f"/chats/{chat}/preview").json()
    panel.until(lambda: panel.part("preview").text_content() == preview["text"])
    panel.part("tokens").filter(has_text=f"{preview['tokens']:,} tokens").wait_for()


def test_edit_and_undo(panel: Panel, turnfold: Service) -> None:
    """An edited snippet is the server's and in the preview, stays text whatever is in it, and can be taken back."""
    first = open_list(panel, turnfold)[0]
    card = cards(panel).first
    panel.press("Edit", card)
    card.locator("textarea").fill(HOSTILE)
    panel.press("Save", card)
    panel.until(lambda: snippets(panel, turnfold)[0]["text"] == HOSTILE)
    panel.until(lambda: card.locator(".turnfold-text").text_content() == HOSTILE)
    assert card.locator("img, b").count() == 0
    assert panel.tavern.js("() => globalThis.tfHacked") is None
    panel.press("Undo", panel.dialog())
    panel.until(lambda: snippets(panel, turnfold)[0]["text"] == first["text"])
    panel.until(lambda: cards(panel).first.locator(".turnfold-text").text_content() == first["text"])


def test_an_empty_text_is_refused(panel: Panel, turnfold: Service) -> None:
    """What the server does not take as a text is told at the snippet, and what was typed stays."""
    panel.tavern.expect_errors("422")
    open_list(panel, turnfold)
    card = cards(panel).first
    panel.press("Edit", card)
    card.locator("textarea").fill("   ")
    panel.press("Save", card)
    card.locator(".tf-error", has_text="DELETE the snippet").wait_for()
    assert card.locator("textarea").input_value() == "   "


def test_delete(panel: Panel, turnfold: Service) -> None:
    """Deleting says how many messages are sent again, and then they are."""
    before = turnfold.status(panel.tavern.chat_id)["counts"]["ghosted"]
    found = open_list(panel, turnfold)
    card = cards(panel).last
    panel.press("Delete", card)
    messages = found[-1]["covers"]["messages"]
    assert f"{messages} messages" in card.locator(".tf-note").inner_text()
    panel.press("Delete", card)
    panel.until(lambda: len(snippets(panel, turnfold)) == len(found) - 1)
    assert turnfold.status(panel.tavern.chat_id)["counts"]["ghosted"] == before - messages
    panel.until(lambda: cards(panel).count() == len(found) - 1)


def test_regenerate(panel: Panel, turnfold: Service) -> None:
    """A snippet is made anew, and shows its new text."""
    first = open_list(panel, turnfold)[0]
    turnfold.patch(f"/chats/{panel.tavern.chat_id}/snippets/{first['id']}", {"text": "Wrong."})
    panel.press("Regenerate", cards(panel).first)
    panel.until(lambda: cards(panel).first.locator(".turnfold-text").text_content() not in (None, "Wrong."))
    panel.until(lambda: snippets(panel, turnfold)[0]["text"] != "Wrong.")


def test_what_is_underneath(panel: Panel, turnfold: Service) -> None:
    """The original messages of a snippet are shown in order, whatever its layer."""
    first = open_list(panel, turnfold)[0]
    card = cards(panel).first
    panel.press("Originals", card)
    card.locator(".tf-original").first.wait_for()
    texts = card.locator(".tf-original p").all_text_contents()
    assert len(texts) == first["covers"]["messages"]
    assert texts[0] == "I ask about gate 0."


def test_layers_and_words(panel: Panel, turnfold: Service) -> None:
    """The list shows one layer alone, or the snippets that hold a word."""
    found = open_list(panel, turnfold)
    upper = [one for one in found if one["layer"] == 1]
    assert upper
    panel.dialog().get_by_label("Layer", exact=True).select_option("1")
    panel.until(lambda: cards(panel).count() == len(upper))
    panel.dialog().get_by_label("Layer", exact=True).select_option("")
    panel.dialog().get_by_label("Find in the memory").fill("nightingale")
    panel.dialog().get_by_text("No snippet holds that.").wait_for()


def test_clear(panel: Panel, turnfold: Service) -> None:
    """Clear asks first; only then everything is forgotten, and every message visible."""
    panel.section("chat")
    panel.press("Clear")
    panel.dialog().locator(".popup-button-cancel").click()
    panel.dialog().wait_for(state="detached")
    assert snippets(panel, turnfold)
    panel.press("Clear")
    panel.close_dialog()
    panel.until(lambda: turnfold.status(panel.tavern.chat_id)["counts"]["ghosted"] == 0)
    panel.part("picture").get_by_label(f"{2 * TURNS} visible").wait_for()


def test_out_and_in_again(panel: Panel, turnfold: Service) -> None:
    """A memory that was exported comes back with an import, which says how much came."""
    chat = panel.tavern.chat_id
    texts = [one["text"] for one in snippets(panel, turnfold)]
    section = panel.section("chat")
    section.locator("#tf-format").select_option("summaryception")
    with panel.tavern.page.expect_download() as download:
        panel.press("Export")
    file = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [one["text"] for layer in reversed(file["layers"]) for one in layer] == texts
    turnfold.post(f"/chats/{chat}/clear")
    bring(panel, "memory.json", json.dumps(file).encode())
    panel.part("outcome").filter(has_text=f"{len(texts)} snippets taken from memory.json").wait_for()
    assert [one["text"] for one in snippets(panel, turnfold)] == texts


def test_a_file_that_is_none(panel: Panel) -> None:
    """A file that holds no memory is refused with the server's own words."""
    panel.tavern.expect_errors("422")
    panel.section("chat")
    bring(panel, "cat.png", b"\x89PNG no memory")
    panel.until(lambda: len(panel.part("outcome").inner_text()) > len("Reading cat.png…"))


def test_fold_now(panel: Panel, turnfold: Service) -> None:
    """Fold now folds what is outside the window, and says so where there is nothing."""
    chat = panel.tavern.chat_id
    panel.section("chat")
    panel.press("Clear")
    panel.close_dialog()
    panel.part("picture").get_by_label(f"{2 * TURNS} visible").wait_for()
    panel.press("Fold now")
    panel.until(lambda: turnfold.status(chat)["counts"]["visible"] == 4)
    panel.until_title("Up to date")
