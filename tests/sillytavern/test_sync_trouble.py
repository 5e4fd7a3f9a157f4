"""What becomes of syncing when a chat is half there, or the server is slow, refuses, or is gone."""

import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.service import Service
from tests.support.serving import Process, end, start
from tests.support.tavern import SillyTavern, line
from tests.support.tavern_page import TavernPage
from tests.support.tavern_traffic import EXTENSION, Traffic
from tests.support.zygote import environment

MANY = """() => {
    const { chat } = SillyTavern.getContext();
    for (let i = 0; i < 30; i += 1) chat.push({ name: 'User', is_user: true, mes: `m${i}`, extra: {} });
}"""
# What SillyTavern does while it loads a chat anew: the array is empty, and things go on happening.
EMPTY_AND_BACK = """async () => {
    const { chat, eventSource, eventTypes } = SillyTavern.getContext();
    const kept = [...chat];
    chat.length = 0;
    await eventSource.emit(eventTypes.SETTINGS_UPDATED);
    await new Promise(done => setTimeout(done, 800));
    chat.push(...kept);
}"""
# Both stand between the open chat and its server, until the chat is left.
# A call is held until `undelayed`; one that is cut meanwhile is refused, as fetch would.
DELAYED = f"""async () => {{
    const {{ server }} = (await import('{EXTENSION}/session.js')).session.chat;
    const sent = server.fetch;
    globalThis.answered = 0;
    const held = new Promise(done => {{ globalThis.undelayed = () => {{ server.fetch = sent; done(); }}; }});
    server.fetch = async (url, options) => {{
        const cut = new Promise((_, fail) => {{
            options?.signal?.addEventListener('abort', () => fail(options.signal.reason));
        }});
        await Promise.race([held, cut]);
        globalThis.answered += 1;
        return sent(url, options);
    }};
}}"""
REFUSED = f"""async ([status, code, after]) => {{
    const {{ server }} = (await import('{EXTENSION}/session.js')).session.chat;
    const sent = server.fetch;
    const headers = {{ 'Content-Type': 'application/problem+json', ...(after && {{ 'Retry-After': after }}) }};
    server.fetch = async () => new Response(JSON.stringify({{ code, detail: 'No way.' }}), {{ status, headers }});
    globalThis.unrefused = () => {{ server.fetch = sent; }};
}}"""
SAID = (
    "words => [...document.querySelectorAll('#toast-container .toast-message')].some(e => e.innerText.includes(words))"
)
UNSAID = f"words => !({SAID})(words)"


@pytest.fixture
def traffic(tavern: TavernPage, turnfold: Service) -> Traffic:
    """The page's requests, the new chat being synced."""
    watched = Traffic(tavern, turnfold)
    assert watched.is_equal()
    watched.calls()
    return watched


def test_loading_is_no_emptying(tavern: TavernPage, traffic: Traffic) -> None:
    """A chat that a user once emptied loses nothing when SillyTavern empties the array to load it anew."""
    tavern.delete(0)
    assert traffic.history() == []
    tavern.send("From the beginning.")
    assert len(traffic.history()) == 2
    traffic.calls()
    tavern.js(EMPTY_AND_BACK)
    assert traffic.is_equal()
    assert traffic.writes() == []


def test_most_is_gone(tavern: TavernPage, traffic: Traffic, sillytavern: SillyTavern) -> None:
    """A chat whose file lost most of it is kept on the server until the user agrees; the question is that chat's."""
    tavern.expect_errors("409", "404")
    tavern.js(MANY)
    tavern.command("/send And on.")
    assert traffic.is_equal()
    name, held = tavern.chat_name, len(traffic.history())
    sillytavern.seed_chat("Seraphina", name, [line("user", "All that is left.")], {"integrity": tavern.chat_id})
    tavern.js("SillyTavern.getContext().reloadCurrentChat()")
    tavern.until(SAID, "Most of this chat is gone")
    tavern.new_chat()
    tavern.until(UNSAID, "Most of this chat is gone")
    tavern.open_chat(name)
    tavern.until(SAID, "Most of this chat is gone")
    assert traffic.turnfold.get(f"/chats/{tavern.chat_id}").json()["counts"]["messages"] == held
    tavern.page.locator(".toast-message", has_text="Most of this chat is gone").click()
    traffic.phase("ready")
    assert traffic.is_equal()


def test_slow(tavern: TavernPage, traffic: Traffic) -> None:
    """A server that takes long to answer delays no reply; that it does is told, until it has answered."""
    tavern.js(DELAYED)
    tavern.send("Is anybody there?")
    assert tavern.js("answered") == 0
    tavern.until(SAID, "has not answered for a while")
    tavern.js("undelayed()")
    tavern.until(SAID, "in sync again", 20)
    tavern.until(UNSAID, "has not answered for a while")
    assert traffic.is_equal()


@pytest.mark.parametrize(
    ("status", "code", "after", "words"),
    [
        (401, "unauthorized", "", "does not take this key"),
        (403, "forbidden", "", "cannot be synced: No way."),
        (429, "rate_limited", "3", "tried again in 3 s"),
        (503, "internal", "1", "tried again in 1 s"),
    ],
)
def test_refused(tavern: TavernPage, traffic: Traffic, status: int, code: str, after: str, words: str) -> None:
    """A server that refuses is told of once, with what is to be done; once it takes calls again, all is sent."""
    if tavern.js("'toastsSaid' in globalThis"):
        tavern.js("() => { toastsSaid.length = 0; }")  # of the case before
    else:
        traffic.note_toasts()
    tavern.js(REFUSED, [status, code, after])
    for text in ("First.", "Second."):
        tavern.command(f"/send {text}")
        traffic.settle(1)
    traffic.phase("away")
    assert traffic.said(words) == 1
    tavern.js("unrefused()")
    assert traffic.is_equal()
    traffic.phase("ready")
    assert traffic.said("in sync again") == 1


def test_server_killed(tavern: TavernPage, traffic: Traffic, turnfold: Service, tmp_path: Path) -> None:
    """A server that dies is missed at once, though nobody writes; when it is back, what it missed is sent."""
    tavern.expect_errors("net::ERR_", "Failed to load resource", "404")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def launch(folder: Path, settings: Mapping[str, str], log: Path) -> Process:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", port]
        with log.open("ab") as output:
            environ = environment(folder, **settings)
            return subprocess.Popen(command, cwd=folder, env=environ, stdin=-3, stdout=output, stderr=output)

    serving = start(launch, tmp_path, cors_origins=traffic.tavern.tavern.url)
    try:
        traffic.change(server=serving.url)
        tavern.until(f"async () => (await import('{EXTENSION}/session.js')).session.phase === 'ready'")
        assert traffic.settle()
        serving.kill()
        traffic.phase("away")
        tavern.send("Is anybody there?")
        serving.http.close()
        serving = start(launch, tmp_path, cors_origins=traffic.tavern.tavern.url)
        traffic.phase("ready")
        there = serving.ask("GET", f"/chats/{tavern.chat_id}/messages")["items"]
        assert [one["content"] for one in there] == tavern.texts
    finally:
        traffic.change(server=turnfold.url)
        end(serving)
    assert traffic.is_equal()


def test_not_saved(tavern: TavernPage, traffic: Traffic, turnfold: Service, sillytavern: SillyTavern) -> None:
    """A chat that has no id in its file, which gets another one at each opening, is none to the server until saved."""
    chats = turnfold.get("/chats").json()["items"]
    name = sillytavern.seed_chat("Seraphina", "no id", [line("user", "Only to be read.")], {"integrity": ""})
    tavern.open_chat(name)
    assert not traffic.settle(1)
    assert turnfold.get("/chats").json()["items"] == chats
    tavern.expect_errors("404")
    tavern.send("And now to be kept.")
    assert traffic.is_equal()
    assert tavern.file()[0]["chat_metadata"]["integrity"] == tavern.chat_id
