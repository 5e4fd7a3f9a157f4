"""Tool calls and their results: a call is sent with all its results, or none of them is (rolling-and-buffer.md)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from app.core.left_out import is_empty
from app.core.model import Message, Role


@dataclass(frozen=True, slots=True)
class Coming:
    """What a request sends behind the stored messages: ids of stored calls that it answers, and whether it goes on
    with anything but results.
    """

    answers: frozenset[str] = frozenset()
    goes_on: bool = False


NOTHING = Coming()


class _Pairing:
    """Who answers whom: `callers` the last call of an id, `missing` what each call lacks, `answering` the call of each
    result; all by key, None where the call is not there.
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self.callers: dict[str | None, int | None] = {}
        self.missing: dict[int, set[str | None]] = {}
        self.answering: dict[int, int | None] = {}
        for message in messages:
            self._read(message)

    def answer(self, name: str | None, among: Collection[int] | None = None) -> int | None:
        """The call that a result of this id answers, which lacks it no more."""
        caller = self.callers.get(name)
        if caller is None or (among is not None and caller not in among):
            return None
        self.missing[caller].discard(name)
        return caller

    def _read(self, message: Message) -> None:
        if message.calls:
            self.callers.update(dict.fromkeys(message.calls, message.key if message.visible else None))
            if message.visible:
                self.missing[message.key] = set(message.calls)
        elif message.visible and message.role is Role.TOOL:
            self.answering[message.key] = self.answer(message.answers)


def orphans(messages: Iterable[Message], unfinished: Collection[int], coming: Coming = NOTHING) -> frozenset[int]:
    """Keys of tool results without their call before them, and of calls without all their results, with what results
    they have.

    A result answers the last call of its id: some servers begin to count anew in every turn. The last call in the open
    turn (`unfinished`, keys) waits for its results while nothing but these follows it: else no server takes it.
    """
    messages = list(messages)
    if not any([is_of_tool(message) for message in messages]):
        return frozenset()
    found = _Pairing(messages)
    answered = {found.answer(name, unfinished) for name in coming.answers}
    lost = {None, *(key for key, calls in found.missing.items() if calls)}
    last = next((key for key in reversed(found.missing) if key in unfinished), None)
    if last is not None and not coming.goes_on and answered | _behind(last, messages, found) <= lost:
        lost.discard(last)
    return frozenset(
        {key for key in lost if key is not None} | {k for k, call in found.answering.items() if call in lost}
    )


def _behind(call: int, messages: Sequence[Message], found: _Pairing) -> set[int | None]:
    """What stands behind a call: the calls that results there answer, 0 for anything else that could be sent."""
    behind = takewhile(lambda message: message.key != call, reversed(messages))
    return {found.answering.get(message.key, 0) for message in behind if message.visible and not is_empty(message)}


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
