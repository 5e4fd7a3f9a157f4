"""Clients of a storm: writers, each with a chat of its own, and people who steer all of them."""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tests.support.storm_ledger import Gate, History, Ledger, Said
from tests.support.watchful_model import words

MOST = 400
"""So many messages are enough for a chat; then it only changes."""


@dataclass
class World:
    """What the clients share: where the server is now, whether it is there, and what went wrong."""

    ledgers: Sequence[Ledger]
    gate: Gate = field(default_factory=Gate)
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    answers: int = 0
    violations: list[str] = field(default_factory=list)


class Client(threading.Thread):
    """Does one thing after another while the server is there."""

    def __init__(self, world: World, seed: str) -> None:
        super().__init__(daemon=True, name=seed)
        self.world = world
        self.random = random.Random(seed)
        self._cut_at = ""

    def run(self) -> None:
        with httpx.Client(timeout=30, verify=False) as self.http:
            while not self.world.over.is_set():
                with self.world.gate.passing(0.1) as inside:
                    if inside and self.world.url != self._cut_at:
                        self._try()
                self.world.over.wait(self.random.uniform(0, 0.03))

    def _try(self) -> None:
        try:
            self.act()
        except httpx.TransportError:
            self._cut_at = self.world.url  # nothing more of that server: what it did last is in doubt

    def act(self) -> None:
        """One thing."""
        raise NotImplementedError

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """A request; an answer that nobody should get is a violation."""
        sent = {} if body is None else {"json": body}
        answer = self.http.request(method, f"{self.world.url}/v1/chats/{path}", headers=headers, **sent)
        self.world.answers += 1
        if answer.status_code >= 500:
            self.world.violations.append(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer


class Writer(Client):
    """Appends to its chat; unless that is a steady one, changes, deletes, hides and syncs as well.

    A steady chat's messages have no ids of the client's: an append that was not answered is sent again with its key.
    """

    def __init__(self, world: World, ledger: Ledger, seed: str) -> None:
        super().__init__(world, f"{seed}-{ledger.chat}")
        self.ledger = ledger
        self._again: tuple[str, History] | None = None

    def act(self) -> None:
        long = len(self.ledger.sure)
        if self.ledger.steady:
            if long < MOST:
                self._append_once()
        elif long < 12 or (long < MOST and self.random.random() < 0.6):
            turns = self.random.choice((1, 1, 1, 2, 6))
            self._send("POST", "messages", self.ledger.sure + self._turns(turns), appended=2 * turns)
        else:
            self.random.choice((self._edit, self._hide, self._remove, self._swipe, self._insert))()

    def _append_once(self) -> None:
        key, fresh = self._again or (f"{self.ledger.chat}-{self.ledger.next_number()}", self._turns(1))
        self._again = (key, fresh)
        sure = self.ledger.sure
        self.ledger.doubt = sure if sure[-len(fresh) :] == fresh else sure + fresh
        lines = [{"role": said.role, "content": said.content} for said in fresh]
        path = f"{self.ledger.chat}/messages"
        self._learn(self.ask("POST", path, {"messages": lines}, **{"Idempotency-Key": key}))
        self._again = None

    def _turns(self, count: int) -> History:
        return tuple(self._said(role) for _ in range(count) for role in ("user", "assistant"))

    def _said(self, role: str) -> Said:
        number = self.ledger.next_number()
        return Said(f"m{number}", role, words(self.ledger.chat, number))

    def _place(self) -> int:
        return self.random.randrange(len(self.ledger.sure))

    def _edit(self) -> None:
        place = self._place()
        said = replace(self.ledger.sure[place], content=words(self.ledger.chat, self.ledger.next_number()))
        self._send("PATCH", f"messages/{said.id}", self._with(place, said), {"content": said.content})

    def _hide(self) -> None:
        place = self._place()
        said = replace(self.ledger.sure[place], hidden=not self.ledger.sure[place].hidden)
        self._send("PATCH", f"messages/{said.id}", self._with(place, said), {"hidden": said.hidden})

    def _remove(self) -> None:
        place = self._place()
        self._send("DELETE", f"messages/{self.ledger.sure[place].id}", self._with(place))

    def _swipe(self) -> None:
        """Another last reply, as a frontend sends it: with all of the history."""
        last = len(self.ledger.sure) - 1
        self._send("PUT", "messages", self._with(last, self._said(self.ledger.sure[last].role)))

    def _insert(self) -> None:
        place = self._place()
        self._send("PUT", "messages", self._with(place, *self._turns(1), self.ledger.sure[place]))

    def _with(self, place: int, *instead: Said) -> History:
        history = self.ledger.sure
        return (*history[:place], *instead, *history[place + 1 :])

    def _send(self, method: str, path: str, after: History, body: Any = None, appended: int = 0) -> None:
        """A request that makes the history `after`."""
        if path == "messages":
            said = after[-appended:] if appended else after
            body = {"messages": [vars(one) for one in said]}
        self.ledger.doubt = after
        if appended:
            self._learn(self.ask(method, f"{self.ledger.chat}/{path}", body))
            return
        with self.ledger.changing():
            self._learn(self.ask(method, f"{self.ledger.chat}/{path}", body))

    def _learn(self, answer: httpx.Response) -> None:
        if answer.is_success and self.ledger.doubt is not None:
            self.ledger.sure = self.ledger.doubt
        elif not answer.is_success:
            self.world.violations.append(f"{answer.request.method} {answer.url}: {answer.status_code} {answer.text}")
        self.ledger.doubt = None


class Person(Client):
    """Looks at chats, and says what is to become of them."""

    def act(self) -> None:
        ledger = self.random.choice(self.world.ledgers)
        looks: list[Callable[[Ledger], None]] = [self._look, self._look, self._read, self._examine]
        deeds: list[Callable[[Ledger], None]] = [self._steer, self._steer, self._regenerate, self._clear]
        self.random.choice(looks + deeds)(ledger)

    def _look(self, ledger: Ledger) -> None:
        since = ledger.quiet_since
        answer = self.ask("GET", f"{ledger.chat}/snippets?state=all&limit=1000")
        if since is None or not answer.is_success:
            return
        for snippet in answer.json()["items"]:
            if snippet["state"] in ("live", "absorbed"):
                ledger.saw(snippet["id"], snippet["text"], since)

    def _read(self, ledger: Ledger) -> None:
        self.ask("GET", f"{ledger.chat}/{self.random.choice(('status', 'projection', 'preview', 'export'))}")

    def _examine(self, ledger: Ledger) -> None:
        """While everything runs: a chat is sound at every moment."""
        answer = self.ask("POST", f"{ledger.chat}/repair", {"dry_run": True})
        found = answer.json()["findings"] if answer.is_success else []
        wrong = [finding for finding in found if finding["code"] not in ("degraded", "stale_waiting")]
        if wrong:
            self.world.violations.append(f"{ledger.chat}: {wrong}")

    def _steer(self, ledger: Ledger) -> None:
        what = self.random.choice(("all", "one", "skip", "summarize", "stop", "pause", "resume", "resume"))
        if what in ("all", "one", "skip"):
            self.ask("POST", f"{ledger.chat}/backlog", {"choice": what})
        else:
            self.ask("POST", f"{ledger.chat}/{what}")

    def _regenerate(self, ledger: Ledger) -> None:
        if ledger.steady or not ledger.seen:
            return
        snippet_id = self.random.choice(list(ledger.seen))
        self.ask("POST", f"{ledger.chat}/snippets/{snippet_id}/regenerate")

    def _clear(self, ledger: Ledger) -> None:
        if not ledger.steady and self.random.random() < 0.1:
            with ledger.changing():
                self.ask("POST", f"{ledger.chat}/clear")
