"""A server that is killed during the fold before an answer has lost nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fake_model import FakeModel
from tests.support.service import turn_lines
from tests.support.serving import Serving, age_leases, forked, served
from tests.support.waiting import until_seen
from tests.support.zygote import Zygote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def _counts(server: Serving) -> tuple[int, int]:
    counts: dict[str, Any] = server.ask("GET", "/chats/c/status")["counts"]
    return counts["ghosted"], counts["visible"]


def test_killed_between_call_and_commit(zygote: Zygote, tmp_path: Path) -> None:
    """The chat is as it was; the next server makes the fold, once, and the next answer has it."""
    with FakeModel() as model:
        wire = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "scripted"}
        with served(forked(zygote), tmp_path, **wire) as server, ThreadPoolExecutor(1) as pool:
            server.ask("PUT", "/chats/c", {"strategy": "summary_buffer"})
            lines = [line for turn in range(1, 11) for line in turn_lines(turn)]
            server.ask("POST", "/chats/c/messages", {"messages": lines})
            model.hold()
            asked = pool.submit(server.ask, "POST", "/chats/c/projection", {})
            model.wait_for_calls(1, 20)
            server.kill()
            assert isinstance(asked.exception(20), httpx.HTTPError)
        model.release()
        age_leases(tmp_path)
        with served(forked(zygote), tmp_path, **wire) as server:
            until_seen(lambda: _counts(server) == (14, 6), 60)
            prompt = server.ask("POST", "/chats/c/projection", {})
            assert prompt["memory"]["covered_through"] == {"message_id": "a7", "index": 13}
            assert len(server.ask("GET", "/chats/c/snippets?state=all")["items"]) == 1
        assert len(model.calls) == 2
