"""POST messages: two more in a long chat against two more in a short one, each answer after a durable commit."""

from itertools import count

from bench.chats import chat_name
from bench.figures import Aim, Figure
from bench.measuring import quotients, seconds, spread
from bench.processes import Remote
from bench.prose import lines
from bench.session import Session

_WARM_UP = 10


def appending(session: Session) -> list[Figure]:
    """Without folding, and with a fold in the background where one is due; that is over before the next append."""
    scale = session.scale
    with session.serve("append", session.grown) as server:
        append = _Appends(server)
        return [_figure(session, append, fold, scale.rounds * scale.calls // 3) for fold in ("none", "background")]


class _Appends:
    """A turn at a time."""

    def __init__(self, server: Remote) -> None:
        self.server = server
        self._numbers = count()
        self._said = lines(seed=3)

    def time(self, size: int, fold: str) -> float:
        """Seconds of an append to the chat of a size, from the request to the answer."""
        roles = ("user", "assistant")
        new = [{"id": f"n{next(self._numbers)}", "role": role, "content": next(self._said)} for role in roles]
        took = seconds(
            lambda: self.server.post(f"/v1/chats/{chat_name(size)}/messages", {"messages": new, "fold": fold})
        )
        if fold == "background":
            self.server.settle(chat_name(size))
        return took


def _figure(session: Session, append: _Appends, fold: str, calls: int) -> Figure:
    sizes = (session.scale.large, session.scale.tiny)
    for size in sizes:
        for _ in range(_WARM_UP):
            append.time(size, fold)
    pairs = [(append.time(sizes[0], fold), append.time(sizes[1], fold)) for _ in range(calls)]
    long, short = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Figure(
        scenario="append",
        what=f"append 2 messages, fold {fold}, {sizes[0]:,} messages",
        unit="ms",
        value=spread([1000 * took for took in long]),
        floor_name=f"{sizes[1]:,} messages",
        floor=spread([1000 * took for took in short]),
        ratio=quotients(long, short),
        aim=Aim("ratio", "at most", 1.3),
    )
