"""Several clients over HTTP at once, against a server that folds meanwhile: no 500, no deadlock, no broken promise."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.checks import assert_promises
from tests.support.scripted import ScriptedModels
from tests.support.service import Service, running

SETTINGS = {"verbatim_turns": 3, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
CLIENTS, CALLS = 4, 60
REFUSALS = {404, 409, 412, 422}


class Tab:
    """A client that reads the chat now and then, and rewrites it from what it remembers."""

    def __init__(self, url: str, number: int, seed: int) -> None:
        self._http = httpx.Client(base_url=f"{url}/v1", timeout=60)
        self._random = random.Random(f"{seed} {number}")
        self._number = number
        self._said = 0
        self._seen: list[dict[str, str]] = []
        self.answers: Counter[int] = Counter()

    def play(self) -> Counter[int]:
        """Make the calls; how each was answered, counted by status."""
        calls = [self.append, self.append, self.look, self.sync, self.delete, self.edit, self.memory, self.steer]
        with self._http:
            for _ in range(CALLS):
                self._random.choice(calls)()
        return self.answers

    def append(self) -> None:
        self._call("POST", "/chats/c/messages", {"messages": [self._line("user"), self._line("assistant")]})

    def look(self) -> None:
        found = self._call("GET", "/chats/c/messages?limit=1000").json()["items"]
        self._seen = [{name: message[name] for name in ("id", "role", "content")} for message in found]

    def sync(self) -> None:
        view = [line for line in self._seen if self._random.random() > 0.05] + [self._line("assistant")]
        self._call("PUT", "/chats/c/messages", {"messages": view, "allow_shrink": True})

    def delete(self) -> None:
        self._call("DELETE", f"/chats/c/messages/{self._one()}")

    def edit(self) -> None:
        changes = [{"content": f"Anew {self._said}."}, {"hidden": True}, {"pinned": True}, {"hidden": False}]
        self._call("PATCH", f"/chats/c/messages/{self._one()}", self._random.choice(changes))

    def memory(self) -> None:
        found = self._call("GET", "/chats/c/snippets").json()["items"]
        if not found:
            return
        path = f"/chats/c/snippets/{self._random.choice(found)['id']}"
        kind = self._random.choice(["edit", "delete", "regenerate", "undo"])
        if kind == "edit":
            self._call("PATCH", path, {"text": f"By hand {self._said}."})
        elif kind == "delete":
            self._call("DELETE", path)
        else:
            self._call("POST", f"{path}/regenerate" if kind == "regenerate" else "/chats/c/undo")

    def steer(self) -> None:
        kind = self._random.choice(["summarize", "pause", "resume", "stop", "fork"])
        self._call("POST", f"/chats/c/{kind}")

    def _call(self, method: str, path: str, body: object = None) -> httpx.Response:
        answer = self._http.request(method, path, json=body)
        self.answers[answer.status_code] += 1
        assert answer.is_success or answer.status_code in REFUSALS, f"{method} {path}: {answer.text}"
        return answer

    def _line(self, role: str) -> dict[str, str]:
        self._said += 1
        return {"id": f"{self._number}-{self._said}", "role": role, "content": f"Tab {self._number} says {self._said}."}

    def _one(self) -> str:
        return self._random.choice(self._seen)["id"] if self._seen else "nobody"


def settle(service: Service) -> None:
    """Let everything that is due be done."""
    service.post("/chats/c/resume")
    service.settled("c")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_tabs_at_once(tmp_path: Path, seed: int) -> None:
    """Four tabs append, sync old views, delete, edit and steer; the promises hold, for every branch too."""
    with running(tmp_path, models=ScriptedModels()) as service:
        service.put("/chats/c", {"settings": {"on_backlog": "all", "layered": SETTINGS}})
        service.say("c", *range(1, 16))
        tabs = [Tab(service.url, number, seed) for number in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as pool:
            answers = sum(pool.map(Tab.play, tabs), Counter())
        settle(service)
        assert answers.total() >= CLIENTS * CALLS
        assert answers[200] + answers[201] > answers.total() / 2
        chats = service.get("/chats", params={"limit": 1000}).json()["items"]
        assert len(chats) > 1
        for chat in chats:
            assert_promises(service.database, chat["id"], 3, shrunk=True)
