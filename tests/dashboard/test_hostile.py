"""Whatever is written in a chat is shown as text, on every page and on the narrowest phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.support import hostile
from tests.support.dashboard import Dashboard
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.hostile import HOSTILE, ID, NAME
from tests.support.service import Service
from tests.support.strata import cell, snippets

NARROW = {"width": 360, "height": 740}
CHAT = quote(ID, safe="")
PATH = f"/chats/{CHAT}"


@pytest.fixture(scope="module")
def phone(browser: Browser, service: Service, model: FakeModel) -> Iterator[Dashboard]:
    """A narrow page of a server that holds a hostile chat."""
    hostile.hostile_chat(service, ID, model)
    phone = Dashboard(browser, service, viewport=NARROW)
    yield phone
    phone.context.close()


@contextmanager
def listening(page: Page, asked: list[Dialog]) -> Iterator[None]:
    """Notes which of the browser's own dialogs a page opens; with a listener Playwright does not answer them."""

    def hear(dialog: Dialog) -> None:
        asked.append(dialog)
        dialog.dismiss()

    page.on("dialog", hear)
    yield
    page.remove_listener("dialog", hear)


@pytest.fixture(autouse=True)
def harmless(phone: Dashboard) -> Iterator[None]:
    """No test here may leave an error, an element made of text, or something over the edge; no dialog may open."""
    asked: list[Dialog] = []
    with listening(phone.page, asked):
        yield
    assert asked == []
    assert phone.unexpected() == []
    assert hostile.made(phone.page) == []
    assert phone.too_wide() == []
    assert hostile.wider(phone.page) == []
    assert hostile.loose(phone.page) == []


def at(phone: Dashboard, *place: str, **query: str) -> Page:
    """A page of the hostile chat, once nothing on it is being read."""
    page = phone.open("chats", ID, *place, **query)
    expect(page.get_by_role("heading", level=1)).to_have_text(NAME)
    expect(page.locator(".loading")).to_have_count(0)
    return page


@pytest.mark.parametrize("place", ["", "memory", "prompt", "messages", "settings", "care"])
def test_a_page_says_the_title_as_it_is(phone: Dashboard, place: str) -> None:
    """The list and each page show the title letter by letter, the tab its beginning, which turns nothing about."""
    page = at(phone, place) if place else phone.open()
    expect(page.get_by_text(NAME, exact=True).first).to_be_visible()
    shown = NAME.replace("\u202e", "")[:60]
    expect(page).to_have_title(f"{shown}… – {place.title()} · Turnfold" if place else "Chats · Turnfold")


def test_searching_the_list(phone: Dashboard) -> None:
    """What was searched for is told as it was typed."""
    page = phone.open()
    page.get_by_label("Search for a chat").fill(HOSTILE)
    expect(page.locator(".empty")).to_contain_text(HOSTILE)


def test_snippets_are_text(phone: Dashboard, service: Service) -> None:
    """A snippet, its parts, its messages and its earlier texts stand in the panel as they are, when edited too."""
    merge, *_ = snippets(service, CHAT)
    service.patch(f"{PATH}/snippets/{merge['id']}", {"text": HOSTILE + " edited"})
    page = at(phone, "memory", snippet=merge["id"])
    panel = phone.section("Snippet")
    expect(panel.locator(".snippet-text")).to_have_text(HOSTILE + " edited")
    for name in ("Earlier texts", "original messages"):
        panel.get_by_text(name).click()
        expect(panel.locator(".snippet-under[open] .said").last).to_contain_text("<script>__pwned=1</script>")
    panel.get_by_role("button", name="Edit", exact=True).click()
    expect(panel.get_by_label("Text")).to_have_value(HOSTILE + " edited")
    panel.get_by_role("button", name="Cancel", exact=True).click()
    middle = "cell => cell.scrollIntoView({ block: 'center', behavior: 'instant' })"  # a page that scrolls has no tip
    cell(page, merge).evaluate(middle)
    cell(page, merge).hover()
    expect(page.locator(".strata-tip")).to_be_visible()


def test_a_snippet_by_hand_is_text(phone: Dashboard, service: Service) -> None:
    """The dialog names the messages at its ends as they are, and what is written stands in the panel so."""
    chat = "by-hand"
    service.put(f"/chats/{chat}", {"settings": {"on_backlog": "ask"}})
    lines = [{"id": f"m{n}", "role": ("user", "assistant")[n % 2], "content": HOSTILE} for n in range(24)]
    service.post(f"/chats/{chat}/messages", {"messages": lines, "fold": "none"})
    page = phone.open("chats", chat, "memory", write="1", first="0", last="1")
    asked = page.get_by_role("dialog", name="Write a snippet")
    expect(asked.locator(".clipped").first).to_contain_text("<script>__pwned=1</script>")
    assert hostile.made(page) + phone.too_wide() + hostile.wider(page) == []
    asked.get_by_label("Text").fill(HOSTILE)
    asked.get_by_role("button", name="Write it").click()
    expect(phone.section("Snippet").locator(".snippet-text")).to_have_text(HOSTILE)


@pytest.mark.parametrize("format", ["openai", "anthropic", "text"])
def test_the_prompt_is_text(phone: Dashboard, format: str) -> None:
    """The system prompt, names, memory and turns stand in the prompt as they are, in every format."""
    page = at(phone, "prompt", format=format, system_prompt=HOSTILE)
    expect(page.locator(".piece.system .said")).to_contain_text(HOSTILE)
    expect(page.locator(".piece.history .said").first).to_contain_text("<script>__pwned=1</script>")
    if format != "openai":
        expect(page.locator("pre.shape")).to_contain_text("<script>__pwned=1</script>")


def test_messages_are_text(phone: Dashboard) -> None:
    """A message says what was said, a word of 100,000 letters breaks, and the editor holds the same text."""
    page = at(phone, "messages")
    expect(page.locator("#message-0 .said")).to_have_text(HOSTILE)
    page.locator("#message-10").get_by_role("button", name="Show all 100,000 characters").click()
    assert hostile.wider(page) == []
    phone.button("Change message 0").click()
    phone.button("Edit").click()
    asked = page.get_by_role("dialog")
    expect(asked.get_by_label("Text")).to_have_value(HOSTILE)
    expect(asked.get_by_label("Who speaks")).to_have_value(NAME)
    assert phone.too_wide() == []
    page.keyboard.press("Escape")


@pytest.mark.parametrize(
    "query", ["pwned", '<script>__pwned=1</script> "javascript: __pwned" \u05e9\u05dc\u05d5\u05dd']
)
def test_what_is_found_is_text(phone: Dashboard, query: str) -> None:
    """Excerpts are marked and say what stands there."""
    page = at(phone, "messages", q=query)
    expect(page.locator(".hits mark").first).to_be_visible()
    texts = "\n".join(page.locator(".hits .said").all_inner_texts())
    assert "__pwned=1" in texts


def test_trials_are_text(phone: Dashboard) -> None:
    """A rendered prompt and what a model answers stand as they are."""
    page = at(phone, "settings")
    phone.button("Try it out").click()
    expect(page.locator(".outcome .said")).to_have_text(HOSTILE)
    expect(page.get_by_label("The rendered prompt")).to_contain_text("<script>__pwned=1</script>")


def test_commands_and_names_are_text(phone: Dashboard, service: Service) -> None:
    """A command's answer, and a name in its field, are as they were written; what is told at the foot too."""
    page = at(phone, "care")
    expect(page.get_by_label("Title")).to_have_value(NAME)
    page.get_by_role("combobox", name="Command").fill("/sc-preview")
    phone.button("Run").click()
    expect(page.get_by_label("Answer", exact=True)).to_contain_text("<script>__pwned=1</script>")
    page.get_by_role("combobox", name="Command").fill("/" + HOSTILE)
    phone.expect_errors("status of 4")
    phone.button("Run").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert service.get(PATH).json()["title"] == NAME


def test_connections_are_text(phone: Dashboard, service: Service, model: FakeModel) -> None:
    """Names, models and a server's own words stand on the cards, in notices and where a fold has failed."""
    with model.only(status(500, body=HOSTILE + "w" * 5000)):
        page = phone.open("connections")
        card = page.get_by_role("listitem").filter(has_text=ID)
        card.get_by_role("button", name="Test").click()
        expect(card.get_by_text("It did not answer as it should.")).to_be_visible()
    with model.only(status(404, body=HOSTILE + "w" * 5000)):
        service.patch("/settings", {"retry_attempts": 1})
        service.post(f"{PATH}/messages", {"messages": _turn("x"), "fold": "wait"})
    told = at(phone, "care").get_by_role("group", name="The last error")
    expect(told).to_contain_text(ID)
    service.post(f"{PATH}/summarize")


def test_models_and_notices_are_text(phone: Dashboard, service: Service, model: FakeModel) -> None:
    """A list of models from a server, and what is told at the page's foot."""
    model.models = [HOSTILE, "w" * 500]
    page = phone.open("connections")
    card = page.get_by_role("listitem").filter(has_text=ID)
    card.get_by_role("button", name="Models").click()
    expect(card).to_contain_text("w" * 500)
    card.get_by_role("button", name="Use for all chats").click()
    expect(page.locator(".notice").last).to_contain_text(ID)
    service.patch("/settings", {"connection": None})


def test_words_stand_still_beside_right_to_left_text(phone: Dashboard) -> None:
    """A message's number, its role and its marks stand in the order in which the page has them."""
    page = at(phone, "messages")
    places = page.locator("#message-0 header").evaluate(
        "(head) => [...head.querySelectorAll('.place, .weight time')].map((one) => one.innerText)"
    )
    assert places[0] == "#0"
    order = page.locator("#message-0 .weight").evaluate("""(one) => {
        const range = document.createRange();
        const at = (node) => { range.selectNodeContents(node); return range.getBoundingClientRect().left; };
        return [...one.childNodes].map(at);
    }""")
    assert order == sorted(order)


def _turn(name: str) -> list[dict[str, str]]:
    return [{"id": f"{name}{role}", "role": role, "content": HOSTILE} for role in ("user", "assistant")]
