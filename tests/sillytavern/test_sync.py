"""The server's copy of a chat follows what a user does in SillyTavern."""

import pytest

from tests.support.service import Service
from tests.support.tavern import both_versions
from tests.support.tavern_page import TavernPage
from tests.support.tavern_traffic import Traffic

MOVE_UP = """async at => {
    document.querySelector(`#chat .mes[mesid="${at}"] .mes_edit`).click();
    await tavernTest.until('the editor', () => document.querySelector('#curEditTextarea'));
    document.querySelector(`#chat .mes[mesid="${at}"] .mes_edit_up`).click();
    await tavernTest.until('the move', () => document.querySelector(`#chat .mes[mesid="${at - 1}"] #curEditTextarea`));
    document.querySelector(`#chat .mes[mesid="${at - 1}"] .mes_edit_cancel`).click();
}"""
MANY = """() => {
    const { chat } = SillyTavern.getContext();
    for (let i = 0; i < 60; i += 1) chat.push({ name: 'User', is_user: true, mes: `m${i}`, extra: {} });
}"""
SAVED = "() => !document.querySelector('#curEditTextarea')"


@pytest.fixture
def traffic(tavern: TavernPage, turnfold: Service) -> Traffic:
    """The page's requests, the new chat being synced."""
    watched = Traffic(tavern, turnfold)
    assert watched.is_equal()
    watched.calls()
    return watched


@both_versions
def test_small_requests(tavern: TavernPage, traffic: Traffic) -> None:
    """Each message, edit, swipe, hiding and deletion is one small request, and the server comes to the same history."""
    tavern.send("Hello.")
    assert traffic.is_equal()
    assert traffic.writes() == ["POST messages", "POST messages"]
    tavern.edit(1, "Hello, edited.")
    assert traffic.is_equal()
    assert traffic.writes() == ["PATCH messages"]
    tavern.swipe()
    assert traffic.is_equal()
    assert traffic.writes() == ["PATCH messages"]
    tavern.hide(1)
    assert traffic.is_equal()
    tavern.hide(1, hidden=False)
    assert traffic.is_equal()
    assert traffic.writes() == ["PATCH messages", "PATCH messages"]
    ids = [one["id"] for one in traffic.history()]
    tavern.delete(2)
    assert traffic.is_equal()
    assert traffic.writes() == ["DELETE messages"]
    assert [one["id"] for one in traffic.history()] == ids[:2]


@both_versions
def test_moved(tavern: TavernPage, traffic: Traffic) -> None:
    """A message that is moved, of which SillyTavern tells nobody, is moved on the server by itself."""
    tavern.send("First.")
    first, second, third = (one["id"] for one in traffic.history())
    traffic.calls()
    with tavern.page.expect_request_finished(lambda request: request.method == "PUT" and "/messages" in request.url):
        tavern.js(MOVE_UP, 2)
    tavern.until(SAVED)
    assert [one["extra"]["turnfold"]["id"] for one in tavern.chat] == [first, third, second]
    assert traffic.is_equal()
    assert [one["id"] for one in traffic.history()] == [first, third, second]
    assert traffic.writes() == ["PUT messages"]


@both_versions
def test_hidden(tavern: TavernPage, traffic: Traffic) -> None:
    """A message that is hidden, of which SillyTavern tells nobody, is hidden on the server by itself."""
    with tavern.page.expect_request_finished(lambda request: request.method == "PATCH"):
        tavern.hide(0)
    assert traffic.is_equal()


def test_ids_are_saved_with_the_chat(tavern: TavernPage, traffic: Traffic) -> None:
    """The ids are in the chat's file as soon as SillyTavern saves it, and are the server's."""
    tavern.send("Hello.")
    saved = [one["extra"]["turnfold"]["id"] for one in tavern.file()[1:]]
    assert saved == [one["id"] for one in traffic.history()]


@both_versions
def test_renamed(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """A renamed chat is the same chat under another title."""
    chat = tavern.chat_id
    tavern.send("Hello.")
    assert traffic.is_equal()
    traffic.calls()
    tavern.rename("another name")
    assert traffic.is_equal()
    assert tavern.chat_id == chat
    assert turnfold.get(f"/chats/{chat}").json()["title"] == "another name"
    assert traffic.writes() == []


@both_versions
def test_branched(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """A branch is another chat, which knows its parent; each keeps its own history, and a branch of it is a third."""
    tavern.send("Hello.")
    assert traffic.is_equal()
    chat, name = traffic.chat_id, tavern.chat_name
    branch = tavern.branch(1)
    assert traffic.is_equal()
    first = traffic.chat_id
    assert turnfold.get(f"/chats/{first}").json()["parent_chat_id"] == chat != first
    tavern.send("On another way.")
    assert traffic.is_equal()
    tavern.branch(1)
    assert turnfold.get(f"/chats/{first}").json()["counts"]["messages"] == 4
    assert traffic.is_equal()
    assert traffic.chat_id not in (chat, first)
    tavern.open_chat(branch)
    assert traffic.is_equal()
    assert traffic.chat_id == first
    tavern.open_chat(name)
    assert traffic.is_equal()
    assert traffic.chat_id == chat


@both_versions
def test_checkpoint(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """A checkpoint, once it is opened, is another chat with a parent."""
    tavern.send("Hello.")
    assert traffic.is_equal()
    chat = traffic.chat_id
    tavern.open_chat(tavern.command("/checkpoint-create mesId=1 a checkpoint"))
    assert traffic.is_equal()
    assert turnfold.get(f"/chats/{traffic.chat_id}").json()["parent_chat_id"] == chat != traffic.chat_id


def test_persona(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """Who plays under another name is known by it."""
    tavern.command("/persona-set mode=temp Mira")
    tavern.send("It is me.")
    assert traffic.is_equal()
    assert turnfold.get(f"/chats/{tavern.chat_id}").json()["user_name"] == "Mira"
    assert traffic.history()[-2]["name"] == "Mira"
    tavern.command("/persona-set mode=temp User")


def test_group(tavern: TavernPage, traffic: Traffic, turnfold: Service) -> None:
    """A group's chat is followed as any other, under the group's name; every speaker keeps theirs."""
    tavern.group("Seraphina", "Tom")
    tavern.post("Hello, both.")
    tavern.idle()
    assert traffic.is_equal()
    assert {one["name"] for one in traffic.history() if one["role"] == "assistant"} >= {"Seraphina", "Tom"}
    group = tavern.js("(c => c.groups.find(g => g.id === c.groupId).name)(SillyTavern.getContext())")
    assert turnfold.get(f"/chats/{tavern.chat_id}").json()["character_name"] == group


def test_all_deleted(tavern: TavernPage, traffic: Traffic) -> None:
    """A chat that a user empties is empty on the server."""
    tavern.delete(0)
    assert tavern.chat == []
    assert traffic.is_equal()
    tavern.send("From the beginning.")
    assert traffic.is_equal()


def test_too_long(tavern: TavernPage, traffic: Traffic) -> None:
    """A message that no server takes is named once; the rest is synced."""
    tavern.js("() => { SillyTavern.getContext().chat[0].mes = 'word '.repeat(220000); }")
    tavern.command("/send Short.")
    assert [one["content"] for one in traffic.history()] == ["Short."]
    assert [text for text in tavern.toasts() if "Message 0 is longer than 1 MiB" in text]
    # SillyTavern would count its tokens, and answer nobody meanwhile.
    tavern.js("() => { const c = SillyTavern.getContext(); c.chat[0].mes = 'Short again.'; return c.saveChat(); }")
    assert traffic.is_equal()


def test_many_deleted(tavern: TavernPage, traffic: Traffic) -> None:
    """A user who cuts most of a long chat means it."""
    tavern.js(MANY)
    tavern.command("/send And on.")
    assert traffic.is_equal()
    tavern.js("() => { const c = SillyTavern.getContext(); c.chat.length = 5; return c.saveChat(); }")
    assert traffic.is_equal()
    assert len(traffic.history()) == 5
