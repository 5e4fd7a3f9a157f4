"""Tool calls and their results: a call is sent with all its results, or none of them is (rolling-and-buffer.md)."""

from collections.abc import Collection, Iterable

from app.core.model import Message, Role


def orphans(messages: Iterable[Message], unfinished: Collection[int]) -> frozenset[int]:
    """Keys of tool results without their call before them, and of calls without all their results, with what results
    they have.

    A result answers the last call of its id: some servers begin to count anew in every turn. A call in the open turn
    (`unfinished`, keys) waits for its results.
    """
    callers: dict[str | None, int | None] = {}
    missing: dict[int, set[str | None]] = {}
    answering: dict[int, int | None] = {}
    for message in messages:
        callers.update(dict.fromkeys(message.calls, message.key if message.visible else None))
        if message.visible and message.calls:
            missing[message.key] = set(message.calls)
        elif message.visible and message.role is Role.TOOL:
            caller = answering[message.key] = callers.get(message.answers)
            if caller is not None:
                missing[caller].discard(message.answers)
    broken = {key for key, calls in missing.items() if calls and key not in unfinished}
    return frozenset(broken | {key for key, caller in answering.items() if caller is None or caller in broken})


def pairs(messages: Iterable[Message]) -> list[list[Message]]:
    """Each call among `messages`, followed by its results; `messages` hold no orphans."""
    found: list[list[Message]] = []
    latest: dict[str | None, list[Message]] = {}
    for message in messages:
        if message.calls:
            found.append([message])
            latest.update(dict.fromkeys(message.calls, found[-1]))
        elif message.role is Role.TOOL and message.answers in latest:
            latest[message.answers].append(message)
    return found


def with_results(messages: Iterable[Message], omitted: Collection[int]) -> frozenset[int]:
    """`omitted`, keys of messages that are not sent, and the results of the calls among them."""
    keys = set(omitted)
    callers: dict[str | None, int] = {}
    for message in messages:
        callers.update(dict.fromkeys(message.calls, message.key))
        if message.role is Role.TOOL and callers.get(message.answers) in keys:
            keys.add(message.key)
    return frozenset(keys)


def is_of_tool(message: Message) -> bool:
    """Whether a message calls tools, or is a tool's answer."""
    return bool(message.calls) or message.role is Role.TOOL
