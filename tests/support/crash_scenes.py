"""Chats in which something is about to happen, what happens then, and a model that says what it read.

Each scene is prepared once and then lived through again and again, from the same database file, to be cut short.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.core.summary import Summary, SummaryRequest
from app.errors import ModelRejected, ModelUnavailable
from tests.support.honest import HonestModels
from tests.support.table import Table, turn_drafts
from tests.support.waiting import until

SMALL = {
    "verbatim_turns": 2,
    "turns_per_batch": 1,
    "snippets_per_layer": 3,
    "snippets_per_promotion": 2,
    "max_layers": 3,
}
SPARE = "spare"
POISON = "gate 99."
"""What the connection `default` never takes; SPARE does."""

Act = Callable[[Table], Awaitable[object]]


@dataclass(frozen=True)
class Scene:
    """`base`: the chat `c` at the beginning, of BASES. `act`: the one request that sets everything off. It is sent
    again where it is unknown whether it arrived; `begun`, an SQL query, says whether it has. `layered`: settings of its
    own. `remakes`: texts may be replaced. `wrong`: findings of a repair that are no fault here. `down`: in each process
    the first call fails, and so does SPARE.
    """

    base: str
    act: Act
    begun: str
    layered: Mapping[str, int] = field(default_factory=dict)
    remakes: bool = False
    wrong: frozenset[str] = frozenset()
    down: bool = False


class Watched(Protocol):
    """What is told of every call before and after it. `renewals`: how often leases have been renewed."""

    renewals: int

    def reach(self, what: str) -> None: ...


class CrashModels(HonestModels):
    """Honest, but `default` takes no passage with POISON in it. The first call outlasts a renewal of its lease."""

    def __init__(self, points: Watched, *, down: bool) -> None:
        super().__init__()
        self._points = points
        self._down = down

    async def summarize(self, request: SummaryRequest) -> Summary:
        spare = request.connection.name == SPARE
        self._points.reach(f"before the {request.kind} call")
        summary = await super().summarize(request)
        await until(lambda: self._points.renewals, bool)
        if self._down and (spare or len(self.requests) == 1):
            raise ModelUnavailable("It is down.", connection=request.connection.name, calls=1)
        if not spare and any(line.text.endswith(POISON) for line in request.passage):
            raise ModelRejected("Not this.", connection=request.connection.name, status=400, calls=1)
        self._points.reach(f"after the {request.kind} call")
        return summary


async def _folded(table: Table) -> None:
    """Nine turns: seven folds, of which five were merged or moved into the second layer."""
    for turn in range(1, 10):
        await table.say(turn)


async def _waiting(table: Table) -> None:
    """Seven turns that nobody has folded, a backlog."""
    await table.say(*range(1, 8), fold="none")


async def _take_one(table: Table) -> None:
    table.services.steering.backlog("c", "one")


async def _sipping(table: Table) -> None:
    """The same backlog, of which one batch has been folded, and one more is with each reply."""
    await _waiting(table)
    await _take_one(table)


BASES: dict[str, Act] = {"folded": _folded, "waiting": _waiting, "sipping": _sipping}


async def lay_out(table: Table, base: str) -> None:
    """Make the chat `c` and the connection SPARE."""
    fields = {"provider": "openai", "base_url": "http://127.0.0.1:9", "model": "fake"}
    table.services.connections.put(SPARE, fields, keep_key=False, api_key=None)
    table.services.keeping.put("c", {"settings": {"layered": SMALL, "fallback_connection": SPARE}})
    await BASES[base](table)
    await table.settled()


def _append(*turns: int) -> Scene:
    async def act(table: Table) -> None:
        drafts = [draft for turn in turns for draft in turn_drafts(turn)]
        await table.services.recording.append("c", drafts, "background", 0)

    return Scene("folded", act, "SELECT count(*) > 18 FROM messages")


async def _regenerate(table: Table) -> None:
    parts = table.services.browsing.snippets(
        "c", layer=None, state="absorbed", stale=None, degraded=None, offset=0, limit=100
    )
    table.services.revising.regenerate("c", parts[0].id)


async def _edit(table: Table) -> None:
    table.services.editing.edit("c", "u2", {"content": "Mira asks about the blue gate."})


async def _take_all(table: Table) -> None:
    table.services.steering.backlog("c", "all")


async def _skip(table: Table) -> None:
    table.services.steering.skip("c")


_ANSWERED = "SELECT backlog_answer IS NOT NULL FROM chats"
_ASKED = "SELECT count(*) > 0 FROM jobs WHERE kind = 'regenerate'"
_EDITED = "SELECT count(*) > 0 FROM messages WHERE content LIKE '%blue%'"

SCENES = {
    # Four folds in one flush, merges into the second layer, and a seed move that begins the third.
    "growth": replace(_append(10, 11, 12, 13), layered={"flush_turns": 4}),
    "all": Scene("waiting", _take_all, _ANSWERED),
    "one": Scene("waiting", _take_one, _ANSWERED),
    "extra": replace(_append(8), base="sipping", begun="SELECT count(*) > 14 FROM messages"),
    "skip": Scene("waiting", _skip, _ANSWERED),
    "regenerate": Scene("folded", _regenerate, _ASKED, remakes=True),
    "healing": Scene("folded", _edit, _EDITED, remakes=True),
    "fallback": replace(_append(98, 99, 100, 101), wrong=frozenset({"degraded"})),
    "failure": replace(_append(10, 11), down=True),
}
