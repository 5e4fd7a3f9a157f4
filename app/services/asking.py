"""From a plan to the question a summarizer is asked: which snippets it sees, which lines, in which prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from app.core.clipping import cut_middle, share_out
from app.core.context import cap_context
from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Message
from app.core.promotion import Merge
from app.core.summary import Connection, CountTokens, Line, SummaryRequest
from app.core.underway import newest_within
from app.services.counters import ChatCounters
from app.services.prompts import Material, PromptLibrary, RenderedPrompt
from app.services.reading import ChatState
from app.services.remaking import preceding
from app.store import leaves, messages, snippets, trees
from app.store.messages import Content
from app.store.snippets import LiveSnippet

_CUT = " […] "
_INSTRUCTIONS = 800
"""Tokens set aside for our own prompts when prior context must fit a model's window."""


@dataclass(frozen=True)
class Asking:
    """Builds requests."""

    prompts: PromptLibrary
    counters: ChatCounters

    def fold(
        self, session: Session, state: ChatState, fold: Fold, connection: Connection, raw: Sequence[Message] = ()
    ) -> SummaryRequest:
        """What is asked for a fold: only what precedes the passage is prior context.

        `raw` are messages right before it whose summaries are being made meanwhile: they are told as they are.
        """
        prior = _before(session, state, fold)
        return self._tell(session, state, fold.passage, prior, connection, clipped=fold.clipped, raw=raw)

    def passage(
        self, session: Session, state: ChatState, turns: Sequence[Message], connection: Connection, *, clipped: bool
    ) -> SummaryRequest:
        """What would be asked to fold these messages, covered ones too: only what precedes them is prior context."""
        leaf = leaves.leaf_after(session, state.chat.key, state.chat.strategy, turns[0].index - 1)
        prior = state.live if leaf is None else preceding(session, state, leaf)
        return self._tell(session, state, turns, prior, connection, clipped=clipped)

    def merge(self, state: ChatState, merge: Merge, connection: Connection) -> SummaryRequest:
        """What is asked for a merge: the destination layer and deeper are its context, the sources excepted."""
        keys = {source.key for source in merge.sources}
        sources = [snippet for snippet in state.live if snippet.core.key in keys]
        deeper = [s for s in state.live if s.core.layer >= merge.layer and s.core.key not in keys]
        return self._condense(state, sources, _preceding(deeper, sources[0], state.live), connection)

    def remake(self, session: Session, state: ChatState, remake: Remake, connection: Connection) -> SummaryRequest:
        """What is asked to make a snippet anew: as it was asked at first, and only with what precedes it."""
        prior = preceding(session, state, remake.snippet.key)
        if not remake.parts:
            return self._tell(session, state, remake.passage, prior, connection, clipped=remake.clipped)
        parts = [snippets.as_live(part) for part in trees.parts(session, remake.snippet.key)]
        return self._condense(state, parts, prior, connection)

    def _tell(
        self,
        session: Session,
        state: ChatState,
        passage: Sequence[Message],
        before: Sequence[LiveSnippet],
        connection: Connection,
        *,
        clipped: bool,
        raw: Sequence[Message] = (),
    ) -> SummaryRequest:
        lines = lines_of(session, state, passage)
        if clipped:
            count = self.counters.counter_for(session, state.settings)
            cut = clip(lines, state.settings.layered.passage_tokens, count)
            lines = [line for line in cut if line.text]
        tokens = sum(message.tokens for message in passage)
        near = newest_within(raw, self._room_for_raw(state, connection, tokens)) if raw else ()
        prior = self._capped(state, before, connection, tokens + sum(message.tokens for message in near))
        prior += told(lines_of(session, state, near)) if near else []
        prompt = self._render(state, prior, "\n".join(told(lines)), merge=False)
        return _request("fold", state, connection, prompt, prior, lines, tokens, clipped=clipped)

    def _condense(
        self, state: ChatState, sources: Sequence[LiveSnippet], before: Sequence[LiveSnippet], connection: Connection
    ) -> SummaryRequest:
        tokens = sum(source.core.tokens for source in sources)
        prior = self._capped(state, before, connection, tokens)
        prompt = self._render(state, prior, "\n".join(source.text for source in sources), merge=True)
        return _request("merge", state, connection, prompt, prior, [Line("", s.text) for s in sources], tokens)

    def _capped(
        self, state: ChatState, prior: Sequence[LiveSnippet], connection: Connection, passage: int
    ) -> list[str]:
        layered = state.settings.layered
        limits = [layered.context_tokens] if layered.context_tokens else []
        if connection.context_size:
            limits.append(_room(state, connection.context_size, passage))
        kept = {s.key for s in cap_context([s.core for s in prior], min(limits, default=0))}
        return [snippet.text for snippet in prior if snippet.core.key in kept]

    def _room_for_raw(self, state: ChatState, connection: Connection, passage: int) -> int:
        """Tokens of turns told as they are: as long as a passage, and no more than half of what else fits."""
        limit = state.settings.layered.passage_tokens
        return min(limit, _room(state, connection.context_size, passage) // 2) if connection.context_size else limit

    def _render(self, state: ChatState, prior: Sequence[str], story: str, *, merge: bool) -> RenderedPrompt:
        render = self.prompts.render_merge if merge else self.prompts.render_fold
        user, char = state.chat.user_name or "User", state.chat.character_name or "Assistant"
        material = Material(user, char, "\n".join(prior), story, state.settings.output_language)
        return render(state.settings.layered, material)


def speaker(user_name: str | None, character_name: str | None, role: str, name: str | None) -> str:
    """Who says a message: its own name, else the chat's for its role."""
    by_role = {"user": user_name or "User", "assistant": character_name or "Assistant", "tool": "Tool result"}
    # On one line: a name with a line break could pose as another speaker's line.
    return " ".join((name or by_role.get(role, "Note")).split())


def clip(lines: Sequence[Line], limit: int, count: CountTokens) -> list[Line]:
    """Lines that are too long lose their middle, the longest the most; where there is no room at all, all they say."""
    shares = share_out([count(line.text) for line in lines], limit)
    cut = (cut_middle(line.text, share, count, _CUT) for line, share in zip(lines, shares, strict=True))
    return [Line(line.speaker, text) for line, text in zip(lines, cut, strict=True)]


def lines_of(session: Session, state: ChatState, passage: Sequence[Message]) -> list[Line]:
    """What the messages of a passage say, and who says it; a message without a text any more has no line."""
    texts = messages.contents(session, [message.key for message in passage])
    return [Line(*spoken(state, texts[message.key])) for message in passage if message.key in texts]


def told(lines: Iterable[Line]) -> list[str]:
    """Lines as a model reads them."""
    return [f"{line.speaker}: {line.text}" for line in lines]


def spoken(state: ChatState, said: Content) -> tuple[str, str]:
    """Who says a message, and what; its tool calls are told in words."""
    who = speaker(state.chat.user_name, state.chat.character_name, said.role, said.name)
    calls = [f"[calls {_called(call)}]" for call in said.tool_calls or ()]
    return who, " ".join(part for part in (said.content or "", *calls) if part)


def _room(state: ChatState, context_size: int, passage: int) -> int:
    """Tokens of a model's window that are left for what precedes a passage."""
    return max(1, context_size - passage - state.settings.layered.snippet_tokens * 2 - _INSTRUCTIONS)


def _called(call: Mapping[str, object]) -> str:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return str(call.get("id", "a tool"))
    return f"{function.get('name', 'a tool')}({function.get('arguments', '')})"


def _before(session: Session, state: ChatState, fold: Fold) -> list[LiveSnippet]:
    """The live snippets before the passage; all of them unless later turns have folded already."""
    following = (
        snippets.root_after(session, state.chat.key, state.chat.strategy, fold.last_index) if fold.late else None
    )
    if following is None:
        return state.live
    keys = [snippet.core.key for snippet in state.live]
    return state.live[: keys.index(following.key)]


def _preceding(deeper: Iterable[LiveSnippet], first: LiveSnippet, live: Sequence[LiveSnippet]) -> list[LiveSnippet]:
    """Those of `deeper` that come before the first source in reading order."""
    place = live.index(first)
    before = {snippet.core.key for snippet in live[:place]}
    return [snippet for snippet in deeper if snippet.core.key in before]


def _request(
    kind: str,
    state: ChatState,
    connection: Connection,
    prompt: RenderedPrompt,
    prior: Sequence[str],
    lines: Sequence[Line],
    source_tokens: int,
    *,
    clipped: bool = False,
) -> SummaryRequest:
    layered = state.settings.layered
    return SummaryRequest(
        kind="merge" if kind == "merge" else "fold",
        connection=connection,
        system=prompt.system,
        user=prompt.user,
        prior=tuple(prior),
        passage=tuple(lines),
        limit=layered.snippet_tokens,
        source_tokens=source_tokens,
        strip_patterns=layered.strip_patterns,
        clipped=clipped,
        chat=state.chat.id,
    )
