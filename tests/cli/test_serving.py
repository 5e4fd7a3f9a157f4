"""`turnfold serve`."""

import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack

import httpx
import pytest

from app.cli.serving import greeting, warnings
from app.settings import Settings
from tests.cli.programs import Start
from tests.support.streams import listening


def _address(process: "subprocess.Popen[str]") -> str:
    """Where the server says it listens, once it does."""
    assert process.stdout is not None
    found = re.search(r"http://\S+/", process.stdout.readline())
    assert found, process.communicate(timeout=10)
    return found[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal(start: Start, number: signal.Signals) -> None:
    """A server on a new database is ready when it says so, and ends with status 0 on SIGTERM and on Ctrl-C."""
    process = start("serve", "--port", "0")
    ready = httpx.get(f"{_address(process)}readyz", timeout=30)
    assert ready.status_code == 200
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert "Stopped." in out
    assert "Traceback" not in err


@pytest.mark.parametrize("level", ["info", "debug"])
def test_a_query_is_never_printed(start: Start, level: str) -> None:
    """A prompt in a query is chat text: whatever is logged, it is not."""
    process = start("serve", "--port", "0", log_level=level)
    address = _address(process)
    httpx.get(f"{address}v1/chats/a/projection", params={"system_prompt": "brasskey"}, timeout=30)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=10)
    assert "/v1/chats/a/projection" in err
    assert "brasskey" not in out + err


def test_it_ends_in_time_though_a_call_is_open(start: Start) -> None:
    """An open connection that says nothing does not hold up the end."""
    process = start("serve", "--port", "0")
    port = int(_address(process).rstrip("/").rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as waiting:
        waiting.sendall(b"POST /v1/chats/a/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_it_ends_at_once_though_streams_are_open(start: Start) -> None:
    """Streams of events end whole when the server does, and do not hold it up."""
    process = start("serve", "--port", "0", log_level="warning")
    address = _address(process)
    httpx.put(f"{address}v1/chats/a", json={}, timeout=30)
    with ExitStack() as streams:
        opened = [streams.enter_context(listening(f"{address}v1/chats/a/events")) for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert [stream.rest() for stream in opened] == [[], [], []]  # not cut: that would be an error
        _, err = process.communicate(timeout=10)
    assert time.monotonic() - began < 5
    assert (process.returncode, err) == (0, "")


def test_a_taken_port(start: Start) -> None:
    """A port that another program has is named in one line, with exit status 1."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        out, err = start("serve", "--port", str(port)).communicate(timeout=60)
    assert out == ""
    assert f"Port {port} is taken" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"database_url": "sqlite:///missing/chats.db"}, "create it"),
        ({"database_url": "postgresql://turnfold@localhost/chats"}, "turnfold migrate"),
        ({"host": "192.0.2.7"}, "cannot be listened on"),
    ],
)
def test_what_keeps_it_from_serving(start: Start, settings: dict[str, str], advice: str) -> None:
    """A database or an address that cannot be used ends in one line and exit status 1."""
    process = start("serve", "--port", "0", **settings)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert advice in err
    assert err.count("\n") == 1


def test_the_greeting_names_what_matters() -> None:
    """One line names the address, the database file and the summarizer."""
    said = greeting(Settings(database_url="sqlite:////srv/chats.db", host="::1"), 9000)
    assert "http://[::1]:9000/" in said
    assert "/srv/chats.db" in said
    assert "built-in extractive summarizer (set TURNFOLD_LLM_PROVIDER and TURNFOLD_LLM_BASE_URL for a model)" in said
    assert "\n" not in said


def test_the_greeting_names_the_model() -> None:
    """With a model the greeting says which, and where it is."""
    said = greeting(Settings(llm_provider="ollama", llm_base_url="http://127.0.0.1:11434", llm_model="small"), 9000)
    assert "ollama small at http://127.0.0.1:11434" in said


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_needs_no_warning(host: str) -> None:
    """A server that only this machine reaches needs no key."""
    assert warnings(Settings(host=host)) == []


def test_an_open_server_is_warned_of() -> None:
    """Beyond loopback, a missing key and a missing list of names are each warned of."""
    assert [line.rsplit("TURNFOLD_", 1)[1][:7] for line in warnings(Settings(host="0.0.0.0"))] == ["API_KEY", "ALLOWED"]


def test_a_closed_server_is_not_warned_of() -> None:
    """With a key and names set, nothing is said."""
    assert warnings(Settings(host="0.0.0.0", api_key="k", allowed_hosts=["chats.example"])) == []
