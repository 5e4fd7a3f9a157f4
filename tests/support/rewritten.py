"""A chat that clients rewrite while it folds: the plain model of the rules, and what must hold after every step."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, invariant

from app.assembly import Server
from app.core.model import Role
from app.errors import Conflict, InvalidRequest, NotFound
from app.services.projection_query import ProjectionQuery
from app.services.recording import Draft
from app.store.migrate import migrate
from tests.support.checks import assert_promises
from tests.support.handwork import Handworker
from tests.support.parts import assembled
from tests.support.provenance import assert_fresh
from tests.support.scripted import ScriptedModels

SMALL = {
    "verbatim_turns": 2,
    "turns_per_batch": 1,
    "snippets_per_layer": 3,
    "snippets_per_promotion": 2,
    "max_layers": 3,
}


@dataclass(frozen=True)
class Said:
    """A message as the plain model of the rules has it."""

    id: str
    role: str
    content: str
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False


@dataclass(frozen=True)
class Opening:
    """A chat to begin with: its database, what is said in it, and what its snippets were made from."""

    database: Path
    history: list[Said] = field(default_factory=list)
    made: dict[str, tuple[str, list[str]]] = field(default_factory=dict)


class RewrittenChat(RuleBasedStateMachine):
    """A chat as the plain rules have it (`history`), the real one, its worker, and what two clients saw of it.

    Every chat begins as a copy of the one that `prepare` made, with what `chat` says of it.
    """

    opening: "Opening | None" = None
    chat: ClassVar[Mapping[str, Any]] = {"settings": {"on_backlog": "all", "layered": SMALL}}

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.database = Path(self.folder.name) / "turnfold.db"
        opening = self.opening or Opening(self.database)
        if opening.database != self.database:
            shutil.copy(opening.database, self.database)
        # A connection that takes several calls at once; the worker answers them by hand.
        model = {"llm_provider": "openai", "llm_base_url": "http://127.0.0.1:9", "llm_concurrency": 8}
        self.server: Server = assembled(self.database, models=ScriptedModels(), **model)
        self.services = self.server.services
        self.worker = Handworker(self.server, opening.made)
        self.history = list(opening.history)
        self.gone: list[str] = []
        self.pinned: set[str] = set()
        self.views: list[list[Said]] = [[], []]
        self.count = len(self.history)
        self.verbatim = 2

    @classmethod
    def prepare(cls, folder: Path) -> None:
        """Make a chat with a memory of several layers, for all to begin with."""
        cls.opening = None
        first = cls()
        migrate(first.server.db.engine)
        first.services.keeping.put("c", cls.chat)
        for _ in range(14):
            said = [first.new("user"), first.new("assistant")]
            first.services.recording.store("c", [draft_of(one) for one in said], fold="background")
            first.history += said
            first.worker.work_off()
        first.server.db.dispose()
        cls.opening = Opening(Path(shutil.copy(first.database, folder)), first.history, first.worker.made)
        first.teardown()

    def teardown(self) -> None:
        self.server.db.dispose()
        self.folder.cleanup()

    # What always holds

    @invariant()
    def history_is_what_it_should_be(self) -> None:
        assert self.read() == self.history
        self.pinned |= {said.content for said in self.history if said.pinned}

    @invariant()
    def promises_hold(self) -> None:
        assert_promises(self.database, "c", self.verbatim, shrunk=True)
        assert_fresh(self.database, "c", self.worker.made, self.pinned)

    @invariant()
    def the_prompt_is_text_or_memory(self) -> None:
        """Every visible message is sent, in order, and no covered one."""
        shown = self.services.recording.page("c", state="visible", after=-1, limit=1000)
        prompt = self.services.projecting.project("c", ProjectionQuery())
        sent = [message["content"] for message in prompt.messages if message["role"] != "system"]
        assert sent == [message.content for message in shown if (message.content or "").strip()]

    # Help

    def new(self, role: str) -> Said:
        self.count += 1
        return Said(f"m{self.count}", role, f"word {self.count}")

    def word(self) -> str:
        self.count += 1
        return f"word {self.count}"

    def at(self, place: int) -> Said:
        return self.history[-1 - place % len(self.history)]

    def change(self, said: Said, edit: Callable[..., Any], **fields: Any) -> None:
        edit("c", said.id, fields)
        changed = replace(said, **fields)
        self.history[self.history.index(said)] = changed

    def changed_view(self, view: list[Said], changes: list[tuple[str, int]]) -> list[Said]:
        view = list(view)
        for kind, place in changes:
            at = place % (len(view) + 1)
            if kind == "i":
                view.insert(at, self.new("assistant" if place % 2 else "user"))
            elif at < len(view):
                view[at : at + 1] = self.changed_line(kind, view[at])
                if kind == "m":
                    view.insert((place * 7) % (len(view) + 1), view.pop(at))
        return view

    def changed_line(self, kind: str, said: Said) -> list[Said]:
        changed = {
            "s": replace(said, pinned=not said.pinned),
            "e": replace(said, content=self.word()),
            "h": replace(said, hidden=not said.hidden),
            "m": said,
        }
        return [changed[kind]] if kind in changed else []

    def snippet(self, place: int, state: str) -> str | None:
        found = self.services.browsing.snippets(
            "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=100
        )
        return found[place % len(found)].id if found else None

    def version(self) -> int:
        return self.services.reporting.status("c").memory_version

    def attempt(self, call: Callable[[], Any]) -> bool:
        """Do what may be refused; whether it was done. Anything else than a refusal is a failure of the test."""
        try:
            call()
        except (Conflict, NotFound, InvalidRequest):
            return False
        return True

    def read(self) -> list[Said]:
        found = self.services.recording.page("c", state="all", after=-1, limit=1000)
        return [Said(m.id, m.role, m.content or "", m.hidden, m.pinned, m.history == "omit") for m in found]


def draft_of(said: Said) -> Draft:
    return Draft(
        Role(said.role), said.content, id=said.id, hidden=said.hidden, pinned=said.pinned, omitted=said.omitted
    )
