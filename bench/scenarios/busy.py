"""Appends and prompts while fifty chats fold, against the same while nothing does."""

from itertools import count
from statistics import quantiles

from bench.figures import Aim, Figure
from bench.measuring import seconds, spread
from bench.processes import Remote, model_settings, scripted_model
from bench.prose import as_file, lines, messages
from bench.scale import Scale
from bench.scenarios.projection import path
from bench.session import Session

_WARM_UP = 20
_LATENCY_S = 5.0
_FEW_MS = 50
"""What nobody notices beside an answer of a model."""


def busy(session: Session) -> list[Figure]:
    """With a model that takes seconds for an answer, and with the built-in summarizer, which takes the processor."""
    scale = session.scale
    with (
        scripted_model(_LATENCY_S, session.folder) as model,
        session.serve("busy", (scale.middle,), model_settings(model.port, scale.busy_chats)) as server,
    ):
        requests = _Requests(server, scale.middle)
        return [
            *_measure(scale, server, requests, "default", "a slow model"),
            *_measure(scale, server, requests, "extractive", "the built-in summarizer"),
        ]


def _measure(scale: Scale, server: Remote, requests: "_Requests", connection: str, by: str) -> list[Figure]:
    chats = [f"{connection}{number}" for number in range(scale.busy_chats)]
    file = as_file(messages(2 * scale.busy_turns))
    for chat in chats:
        server.ask("POST", f"/v1/import?chat_id={chat}", file)
        server.put(f"/v1/chats/{chat}", {"settings": {"connection": connection}})
    requests.times(_WARM_UP)
    idle = requests.times(scale.rounds * scale.calls)
    for chat in chats:
        server.post(f"/v1/chats/{chat}/backlog", {"choice": "all"})
    requests.times(_WARM_UP)
    folding = requests.times(scale.rounds * scale.calls)
    _still_folding(server, len(chats))
    for chat in chats:
        server.ask("POST", f"/v1/chats/{chat}/stop")
    what = f"while {len(chats)} chats fold with {by}"
    return [figure for asked in idle for figure in _figures(f"{asked} {what}", folding[asked], idle[asked])]


class _Requests:
    """What a frontend asks for at each turn: the prompt of a folded chat, and an append to another one, so that the
    first stays as it is.
    """

    def __init__(self, server: Remote, size: int) -> None:
        self._server = server
        self._size = size
        self._said = lines(seed=11)
        self._numbers = count()

    def times(self, calls: int) -> dict[str, list[float]]:
        """Milliseconds of each request; they alternate."""
        took: dict[str, list[float]] = {"GET projection": [], "append 2 messages": []}
        for _ in range(calls):
            took["GET projection"].append(1000 * seconds(lambda: self._server.ask("GET", path(self._size))))
            took["append 2 messages"].append(1000 * seconds(self._append))
        return took

    def _append(self) -> None:
        roles = ("user", "assistant")
        new = [{"id": f"b{next(self._numbers)}", "role": role, "content": next(self._said)} for role in roles]
        self._server.post("/v1/chats/growing/messages", {"messages": new, "fold": "none"})


def _still_folding(server: Remote, wanted: int) -> None:
    """Raises RuntimeError if not all of them fold: then something else was measured."""
    running = len(server.get("/v1/jobs?state=running&limit=1000")["items"])
    if running != wanted:
        raise RuntimeError(f"only {running} of {wanted} chats were still folding at the end")


def _figures(what: str, folding: list[float], idle: list[float]) -> list[Figure]:
    late, late_idle = _p95(folding), _p95(idle)
    value, floor = spread(folding), spread(idle)
    return [
        Figure(
            "busy",
            what,
            "ms",
            value,
            "nothing folds",
            floor,
            spread([value.median / floor.median]),
            Aim("ratio", "at most", 2),
        ),
        Figure(
            scenario="busy",
            what=f"{what}, 95th percentile",
            unit="ms",
            value=spread([late]),
            floor_name="nothing folds",
            floor=spread([late_idle]),
            ratio=spread([late / late_idle]),
            aim=Aim("value", "at most", _FEW_MS),
        ),
    ]


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]
