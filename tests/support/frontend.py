"""A frontend in a thread that answers a server's prompts over HTTP, and remembers what it was asked."""

import threading
from collections.abc import Callable
from typing import Any

import httpx

Call = dict[str, Any]


def one_line(call: Call) -> dict[str, Any]:
    """An answer that can become memory, and names its prompt's length."""
    return {"text": f"Tom opens a gate for Mira, told in {len(call['prompt'])} characters.", "finish_reason": "stop"}


class Frontend:
    """Takes prompts, of one chat or of any, and answers each with what `answer` makes of it, until the block ends.

    An answer of None leaves the prompt alone.
    """

    def __init__(
        self,
        url: str,
        client: str = "tab",
        chat_id: str | None = None,
        answer: Callable[[Call], dict[str, Any] | None] = one_line,
    ) -> None:
        self.calls: list[Call] = []
        self.statuses: list[int] = []
        self._query: dict[str, Any] = {"client": client, "wait_s": 1, **({"chat_id": chat_id} if chat_id else {})}
        self._answer = answer
        self._http = httpx.Client(base_url=f"{url}/v1", timeout=60)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Frontend":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)
        self._http.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            for call in self._http.get("/client-calls", params=self._query).json()["items"]:
                self.calls.append(call)
                said = self._answer(call)
                if said is not None:
                    body = {**said, "client": self._query["client"]}
                    self.statuses.append(self._http.post(f"/client-calls/{call['id']}", json=body).status_code)
