"""From a plan to write the one summary anew to the question a summarizer is asked (rolling-and-buffer.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlmodel import Session

from app.core.healing import Remake
from app.core.model import Message, Role, Strategy, Turn
from app.core.rewrite import Rewrite
from app.core.summary import Connection, Line, SummaryRequest, counted_as
from app.core.template import fill
from app.core.tuning import summary_limit, tune
from app.services import mustache
from app.services.asking import clip, speaker, spoken, told
from app.services.ports import Counters
from app.services.prompts import Material, PromptLibrary, RenderedPrompt, fence_rewrite, rewrite_values
from app.services.reading import ChatState
from app.store import messages, snippets, trees

WINDOW = 12_000
"""Tokens a summary buffer's model is trusted with while its connection's window is not known."""
_PER_LINE = 6
"""Tokens of a speaker's name, its mark and the line break."""
_PER_CALL = 24
"""Tokens by which a server's own chat template makes a prompt longer than its texts."""

_Said = Sequence[tuple[Message, Line]]


class Retelling:
    """Builds requests of the strategies `rolling` and `summary_buffer`. Shared by all threads."""

    def __init__(self, prompts: PromptLibrary, counters: Counters) -> None:
        self._prompts, self._counters = prompts, counters
        self._count_again = lru_cache(maxsize=64)(self._counted)

    def room(self, state: ChatState, previous_text: str, connection: Connection) -> int:
        """Tokens that the summarizer's window leaves for the turns, at least 1 (rolling-and-buffer.md, `rolling`)."""
        empty = self._render(state, _Material())
        model = counted_as(connection.provider, connection.model)
        scaffolding = self._count_again(model, empty.system) + self._count_again(model, empty.user) + _PER_CALL
        spare = _window(state, connection) - _limit(state) - scaffolding
        return max(1, spare - (self._counted(model, previous_text) if previous_text else 0))

    def told(self, turn: Turn) -> int:
        """Tokens of a turn in the prompt."""
        return sum(message.tokens + _PER_LINE for message in turn.messages if not message.blank)

    def connection_for(self, state: ChatState, connection: Connection) -> Connection:
        """The connection as the chat's strategy uses it."""
        rolls = state.chat.strategy == Strategy.ROLLING
        return tune(connection, state.settings.rolling) if rolls else connection

    def request(self, session: Session, state: ChatState, plan: Rewrite, connection: Connection) -> SummaryRequest:
        """What is asked to write the summary anew; `connection` is asked as it is."""
        key = plan.previous.key if plan.previous else None
        previous = next((snippet.text for snippet in state.live if snippet.core.key == key), "")
        return self.follow(session, state, plan, previous, connection)

    def follow(
        self, session: Session, state: ChatState, plan: Rewrite, previous: str, connection: Connection
    ) -> SummaryRequest:
        """The same, where what the turns are added to is given: any summary that came before them, or none."""
        said = [_said(session, state, turn.messages) for turn in plan.turns]
        if plan.clipped and plan.room is not None:
            said = [self._clipped(pairs, plan.room, connection) for pairs in said]
        request = self._request(state, _Material(previous, said, plan.folded), connection)
        return replace(request, source_tokens=sum(m.tokens for m in plan.passage), clipped=plan.clipped)

    def remake(self, session: Session, state: ChatState, remake: Remake, connection: Connection) -> SummaryRequest:
        """What is asked to write a stored summary again: the one before it, and the messages that it folded itself."""
        before = trees.parts(session, remake.snippet.key)
        previous, passage = "\n".join(part.text for part in before), remake.passage
        covered = snippets.covers(session, state.chat.key, [part.key for part in before])
        first = sum(under.turns for under in covered.values())
        said = [_said(session, state, turn) for turn in _split(passage)]
        room = self.room(state, previous, connection)
        tokens = sum(message.tokens for message in passage)
        clipped = sum(message.tokens + _PER_LINE for message in passage) > room
        if clipped:
            said = [self._clipped([pair for pairs in said for pair in pairs], room, connection)]
        request = self._request(state, _Material(previous, said, first), connection)
        return replace(request, source_tokens=tokens, clipped=clipped)

    def request_unstored(
        self, state: ChatState, plan: Rewrite, contents: Mapping[int, messages.Content], connection: Connection
    ) -> SummaryRequest:
        """What is asked to summarize messages that a request brought; `contents` by the keys that the plan has."""
        said: list[_Said] = [
            [(one, Line(*spoken(state, contents[one.key]))) for one in turn.messages if not one.blank]
            for turn in plan.turns
        ]
        if plan.clipped and plan.room is not None:
            said = [self._clipped(pairs, plan.room, connection) for pairs in said]
        request = self._request(state, _Material("", said), connection)
        return replace(request, source_tokens=sum(m.tokens for m in plan.passage), clipped=plan.clipped)

    def _request(self, state: ChatState, material: "_Material", connection: Connection) -> SummaryRequest:
        prompt = self._render(state, material)
        return SummaryRequest(
            kind="fold",
            connection=connection,
            system=prompt.system,
            user=prompt.user,
            prior=(),
            passage=material.lines,
            limit=_limit(state),
            source_tokens=0,
            chat=state.chat.id,
            previous=material.previous,
        )

    def _clipped(self, said: _Said, room: int, connection: Connection) -> _Said:
        limit = max(1, room - _PER_LINE * len(said))
        count = self._counters.of(counted_as(connection.provider, connection.model))
        lines = clip([line for _, line in said], limit, count)
        return [(message, line) for (message, _), line in zip(said, lines, strict=True) if line.text]

    def _counted(self, model: str | None, text: str) -> int:
        """As the summarizer's own model counts: it is its window that texts must fit into."""
        return self._counters.of(model)(text)

    def _render(self, state: ChatState, material: "_Material") -> RenderedPrompt:
        filling = Material("", "", material.previous, "\n".join(told(material.lines)), state.settings.output_language)
        prompt = self._prompts.render_rewrite(state.chat.strategy, filling, _limit(state))
        if state.chat.strategy != Strategy.ROLLING:
            return prompt
        return RenderedPrompt(_own_system(state) or prompt.system, _own_user(state, material) or prompt.user)


@dataclass(frozen=True, slots=True)
class _Material:
    """The summary so far, what is said in each turn after it, and the index of the first of these turns."""

    previous: str = ""
    said: Sequence[_Said] = ()
    first: int = 0

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for pairs in self.said for _, line in pairs)


def _own_system(state: ChatState) -> str:
    values = rewrite_values(state.settings.output_language, _limit(state))
    return fill(state.settings.rolling.system_prompt, values)


def _own_user(state: ChatState, material: _Material) -> str:
    """The prompt in a person's own template, "" if there is none."""
    template = state.settings.rolling.template
    if not template:
        return ""
    turns: list[dict[str, str | int]] = [
        {"index": index, "user": _text(state, pairs, user=True), "assistant": _text(state, pairs, user=False)}
        for index, pairs in enumerate(material.said, material.first)
    ]
    values: dict[str, mustache.Value] = {
        "previous_summary": fence_rewrite(material.previous),
        "turns": turns,
        "max_summary_tokens": _limit(state),
    }
    return mustache.render(template, values)


def _text(state: ChatState, said: _Said, *, user: bool) -> str:
    """What the user says in a turn, or all that others do; who is not the chat's own user or character is named."""
    lines = [(message.role, line) for message, line in said if (message.role is Role.USER) == user]
    return fence_rewrite("\n".join(_named(state, role, line) for role, line in lines))


def _named(state: ChatState, role: Role, line: Line) -> str:
    usual = speaker(state.chat.user_name, state.chat.character_name, role, None)
    expected = role in (Role.USER, Role.ASSISTANT) and line.speaker == usual
    return line.text if expected else f"{line.speaker}: {line.text}"


def _said(session: Session, state: ChatState, passage: Sequence[Message]) -> _Said:
    """What messages say, pinned ones too: a turn makes no sense without them."""
    spoke = [message for message in passage if not message.blank]
    texts = messages.contents(session, [message.key for message in spoke])
    return [(message, Line(*spoken(state, texts[message.key]))) for message in spoke if message.key in texts]


def _split(passage: Sequence[Message]) -> list[list[Message]]:
    """The turns of a passage; the last one may lack its reply."""
    turns: list[list[Message]] = [[]]
    for message in passage:
        turns[-1].append(message)
        if message.closes:
            turns.append([])
    return [turn for turn in turns if turn]


def _limit(state: ChatState) -> int:
    settings = state.settings
    rolls = state.chat.strategy == Strategy.ROLLING
    return summary_limit(settings.rolling) if rolls else settings.summary_buffer.max_summary_tokens


def _window(state: ChatState, connection: Connection) -> int:
    """Tokens of the summarizer's window: rolling memory's own, unless the model is known to have less."""
    if state.chat.strategy != Strategy.ROLLING:
        return connection.context_size or WINDOW
    window = state.settings.rolling.window
    return min(window, connection.context_size or window)
