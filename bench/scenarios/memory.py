"""How long the memory gets, and how much of the prompt stays the same from one reply to the next."""

import asyncio
from itertools import pairwise

from app.assembly import Server
from app.core.model import Role
from app.core.reuse import common_chars
from app.llm.tokens import TokenCounter
from app.services.projection_query import ProjectionQuery
from app.services.recording import Draft
from bench.chats import fold_all, load, parts
from bench.figures import Aim, Figure
from bench.measuring import spread
from bench.prose import lines
from bench.session import Session

_LONG_LINE_CHARS = 710
"""Of a snippet with about 110 tokens, the most that is usual under snippet_tokens 120."""


def memory_size(session: Session) -> list[Figure]:
    """The most tokens the memory ever holds while a long chat is folded with long lines."""
    turns = session.scale.memory_turns
    server, stub = parts(session.folder / "memory.db", line_chars=_LONG_LINE_CHARS, durable=False)
    try:
        load(server, "long", 2 * turns)

        async def run() -> None:
            await server.runner.start()
            await fold_all(server, "long")
            await server.runner.stop()

        asyncio.run(run())
        status = server.services.reporting.status("long")
    finally:
        server.db.dispose()
    most, raw = max(stub.most_prior, status.memory_tokens), status.raw_tokens
    return [
        Figure(
            scenario="memory",
            what=f"most tokens of memory up to {turns:,} turns, lines of {stub.line_tokens:.0f} tokens",
            unit="tokens",
            value=spread([most]),
            floor_name="the chat itself",
            floor=spread([raw]),
            ratio=spread([most / raw]),
            aim=Aim("value", "at most", 16_000),
        )
    ]


def prefix(session: Session) -> list[Figure]:
    """The share of a prompt's tokens that are the beginning of the prompt after it, turn after turn."""
    turns, count = session.scale.prefix_turns, TokenCounter()
    lazy, eager = (_shares(session, flush, turns, count) for flush in (12, 3))
    what = f"% of prompt tokens kept for the next prompt, {turns:,} turns, flush_turns 12"
    return [
        Figure(
            scenario="prefix",
            what=what,
            unit="%",
            value=spread([lazy]),
            floor_name="flush_turns 3",
            floor=spread([eager]),
            ratio=spread([lazy / eager]),
            aim=Aim("value", "at least", 90),
        )
    ]


def _shares(session: Session, flush: int, turns: int, count: TokenCounter) -> float:
    server, _ = parts(session.folder / f"prefix-{flush}.db", durable=False)
    server.services.keeping.put("p", {"settings": {"layered": {"flush_turns": flush}}})
    try:
        prompts = asyncio.run(_play(server, turns))
    finally:
        server.db.dispose()
    kept = sent = 0
    for before, after in pairwise(prompts):
        sent += count(after)
        kept += count(after[: common_chars(before, after)])
    return 100 * kept / sent


async def _play(server: Server, turns: int) -> list[str]:
    """The prompt for each reply as one text, the person's new line at its end."""
    said, prompts = lines(seed=9), []
    asked = ProjectionQuery(system_prompt="You are Tom, keeper of the harbour.", context_size=16_384)
    await server.runner.start()
    for _ in range(turns):
        await _say(server, Role.USER, next(said))
        view = await asyncio.to_thread(server.services.projecting.project, "p", asked)
        prompts.append("\n".join(f"{message['role']}: {message['content']}" for message in view.messages))
        await _say(server, Role.ASSISTANT, next(said))
    await server.runner.stop()
    return prompts


async def _say(server: Server, role: Role, text: str) -> None:
    await server.services.recording.append("p", [Draft(role, text)], "wait", 60)
