"""GET projection: against a bare endpoint with the same bytes, and in a long chat against a short one."""

from urllib.parse import urlencode

from bench.chats import chat_name
from bench.figures import Aim, Figure
from bench.measuring import in_turns, quotients, spread
from bench.processes import bare
from bench.session import Session

_SYSTEM_PROMPT = "You are Tom, keeper of the harbour. Stay in character and answer in two or three sentences."
_WARM_UP = 50


def path(size: int) -> str:
    """The request a frontend makes with a window of 16k."""
    query = urlencode({"context_size": 16_384, "system_prompt": _SYSTEM_PROMPT})
    return f"/v1/chats/{chat_name(size)}/projection?{query}"


def against_bare(session: Session) -> list[Figure]:
    """The projection of a folded chat, and the same bytes from an endpoint that does nothing."""
    scale = session.scale
    wanted = path(scale.middle)
    with session.serve("projection", (scale.middle,)) as server:
        body = server.ask("GET", wanted)
        with bare(body, session.folder) as floor:
            subjects = {"ours": lambda: server.ask("GET", wanted), "floor": lambda: floor.ask("GET", "/")}
            in_turns(subjects, 1, _WARM_UP)
            times = in_turns(subjects, scale.rounds, scale.calls)
    what = f"GET projection, {scale.middle:,} messages, {len(body) / 1000:.0f} kB"
    return [_figure("projection", what, times["ours"], "bare endpoint, same bytes", times["floor"], 2.5)]


def against_short(session: Session) -> list[Figure]:
    """The projection of a long chat against that of a short one, on one server."""
    scale = session.scale
    with session.serve("growth", session.grown) as server:
        subjects = {
            "long": lambda: server.ask("GET", path(scale.large)),
            "short": lambda: server.ask("GET", path(scale.small)),
        }
        in_turns(subjects, 1, _WARM_UP)
        times = in_turns(subjects, scale.rounds, scale.calls)
    what = f"GET projection, {scale.large:,} messages"
    return [_figure("growth", what, times["long"], f"{scale.small:,} messages", times["short"], 1.3)]


def _figure(scenario: str, what: str, ours: list[float], floor_name: str, floor: list[float], most: float) -> Figure:
    return Figure(
        scenario=scenario,
        what=what,
        unit="ms",
        value=spread([1000 * value for value in ours]),
        floor_name=floor_name,
        floor=spread([1000 * value for value in floor]),
        ratio=quotients(ours, floor),
        aim=Aim("ratio", "at most", most),
    )
