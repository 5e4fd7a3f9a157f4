"""A chat with a summary buffer on a running server, and the model that writes its summaries."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.fake_exchange import Request
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running, turn_lines


class BufferChat:
    """The chat `id`, and what these tests ask of it."""

    def __init__(self, service: Service, model: FakeModel, chat: str = "c", **settings: Any) -> None:
        self.service, self.model, self.id = service, model, chat
        self.path = f"/chats/{chat}"
        self._earlier = len(model.calls), model.disconnects
        self.change(**settings)

    @property
    def calls(self) -> list[Request]:
        """What the model was asked since the chat was made."""
        return self.model.calls[self._earlier[0] :]

    def called(self, number: int = 1) -> None:
        """Wait until the model was asked so often since then."""
        self.model.wait_for_calls(self._earlier[0] + number)

    def left(self) -> None:
        """Wait until a call of the time since then was cut."""
        self.model.wait_for_disconnects(self._earlier[1] + 1)

    def change(self, **settings: Any) -> None:
        """Settings of the summary buffer."""
        body = {"strategy": "summary_buffer", "settings": {"summary_buffer": settings}}
        answer = self.service.put(self.path, body)
        assert answer.is_success, answer.text

    def say(self, *turns: int, **more: Any) -> dict[str, Any]:
        """Append turns."""
        lines = [line for turn in turns for line in turn_lines(turn)]
        answer = self.service.post(f"{self.path}/messages", {"messages": lines, **more})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def ask(self, **body: Any) -> dict[str, Any]:
        """The prompt for an answer."""
        answer = self.service.post(f"{self.path}/projection", body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    @contextmanager
    def asking(self, times: int = 1, **body: Any) -> Iterator[list[Future[dict[str, Any]]]]:
        """Ask several times at once, and go on meanwhile."""
        with ThreadPoolExecutor(times) as pool:
            yield [pool.submit(self.ask, **body) for _ in range(times)]

    def counts(self) -> tuple[int, int]:
        """Stored messages that are ghosted, and those that are not."""
        counts = self.service.status(self.id)["counts"]
        return counts["ghosted"], counts["visible"]


def codes(prompt: dict[str, Any]) -> list[str]:
    """The warnings of a prompt that are not about its budget."""
    return [warning["code"] for warning in prompt["warnings"] if warning["code"] != "window_unknown"]


def said(prompt: dict[str, Any]) -> list[str]:
    """What a prompt replays, without system messages."""
    return [message["content"] for message in prompt["messages"] if message["role"] != "system"]


@contextmanager
def buffering(folder: Path, **settings: Any) -> Iterator[tuple[Service, FakeModel]]:
    """A server whose summaries a scripted model writes; a call that fails is not tried again."""
    with FakeModel() as model:
        wire = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "scripted"}
        with running(folder, **{**wire, "retry_attempts": 1, **settings}) as service:
            yield service, model
