"""A killed server loses nothing, and the next one goes on; one that is asked to end ends in time."""

import signal
import time
from pathlib import Path

import pytest

from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.service import turn_lines
from tests.support.serving import Serving, age_leases, forked, served
from tests.support.zygote import Zygote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def _model_of(model: FakeModel) -> dict[str, str]:
    return {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "scripted"}


def _append(server: Serving, turns: range, fold: str = "background") -> None:
    lines = [line for turn in turns for line in turn_lines(turn)]
    server.ask("POST", "/chats/c/messages", {"messages": lines, "fold": fold})


def _ghosted(server: Serving) -> int:
    return int(server.ask("GET", "/chats/c/status")["counts"]["ghosted"])


def test_killed_between_call_and_commit(zygote: Zygote, tmp_path: Path) -> None:
    """A server killed while the model thinks has lost nothing; the next one marks its job and folds by itself."""
    with FakeModel() as model:
        with served(forked(zygote), tmp_path, **_model_of(model)) as server:
            _append(server, range(1, 17), "wait")
            before = _ghosted(server)
            model.hold()
            _append(server, range(17, 20))
            model.wait_for_calls(len(model.calls) + 1, 20)
            server.kill()
        model.release()
        assert_promises(tmp_path / "turnfold.db", "c")
        age_leases(tmp_path)
        with served(forked(zygote), tmp_path, **_model_of(model)) as server:
            assert server.ask("GET", "/chats/c/status")["counts"]["messages"] == 38
            deadline = time.monotonic() + 60
            while _ghosted(server) <= before:
                assert time.monotonic() < deadline, "the work did not go on by itself"
                time.sleep(0.1)
            assert "interrupted" in [job["state"] for job in server.ask("GET", "/jobs?chat_id=c")["items"]]
        assert_promises(tmp_path / "turnfold.db", "c")


def test_sigterm_ends_within_ten_seconds(zygote: Zygote, tmp_path: Path) -> None:
    """SIGTERM cuts the call to the model and ends the server in time."""
    with FakeModel() as model, served(forked(zygote), tmp_path, **_model_of(model)) as server:
        model.hold()
        _append(server, range(1, 14))
        model.wait_for_calls(1, 20)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0
        model.wait_for_disconnects(1)
        assert_promises(tmp_path / "turnfold.db", "c")
