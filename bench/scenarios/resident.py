"""The memory of the server process, against that of a bare FastAPI process."""

from bench.chats import chat_name
from bench.figures import Aim, Figure
from bench.measuring import spread
from bench.processes import Remote, bare
from bench.prose import messages
from bench.scenarios.projection import path
from bench.session import Session

_ASKS = 20
_FOLDING = 40


def resident(session: Session) -> list[Figure]:
    """Idle, with the built-in summarizer loaded, and after work on a long chat against work on an empty one."""
    scale = session.scale
    with bare(b"{}", session.folder) as floor:
        floor.ask("GET", "/")
        bare_mb = floor.resident_mb()
    with session.serve("idle") as server:
        idle = server.resident_mb()
        _fold(server)
        loaded = server.resident_mb()
    with session.serve("empty") as server:
        server.ask("PUT", f"/v1/chats/{chat_name(0)}", b"{}")
        empty = _after_work(server, 0)
    with session.serve("long", session.grown) as server:
        long = _after_work(server, scale.large)
    return [
        _figure("idle, no summarizer loaded", idle, "bare FastAPI process", bare_mb, 160),
        _figure("the built-in summarizer loaded", loaded, "bare FastAPI process", bare_mb, 320),
        _figure(f"{scale.large:,} messages over an empty chat", long - empty, "with an empty chat", empty, 40),
    ]


def _fold(server: Remote) -> None:
    server.post("/v1/chats/f/messages", {"messages": messages(_FOLDING), "fold": "wait", "wait_s": 60})
    server.post("/v1/chats/f/backlog", {"choice": "all"})
    server.settle("f")


def _after_work(server: Remote, size: int) -> float:
    """MB after reading prompts and status and appending to the chat of a size, without folding."""
    for _ in range(_ASKS):
        server.ask("GET", path(size))
        server.get(f"/v1/chats/{chat_name(size)}/status")
    new = [{"role": "user", "content": "Is the gate still shut?"}, {"role": "assistant", "content": "It is."}]
    for _ in range(_ASKS):
        server.post(f"/v1/chats/{chat_name(size)}/messages", {"messages": new, "fold": "none"})
    return server.resident_mb()


def _figure(what: str, megabytes: float, floor_name: str, floor: float, most: float) -> Figure:
    return Figure(
        scenario="resident",
        what=f"resident memory, {what}",
        unit="MB",
        value=spread([megabytes]),
        floor_name=floor_name,
        floor=spread([floor]),
        ratio=spread([megabytes / floor]),
        aim=Aim("value", "at most", most),
    )
