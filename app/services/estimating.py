"""What a backlog will cost, before and while it is folded."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock

from sqlmodel import Session

from app.core.batches import count_over, foresee_batches
from app.core.course import Course
from app.core.estimate import Estimate, Terms, Written, estimate, factor
from app.core.summary import Connection
from app.errors import NotFound
from app.services.connections import EXTRACTIVE, Connections
from app.services.counters import ChatCounters
from app.services.prompts import Material, PromptLibrary
from app.services.reading import ChatState
from app.services.waiting import last_stretch, read_waiting
from app.store import sizes
from app.store.counting import Counts

_SPEAKER = 4
"""Tokens of a name before a line, a colon and the line's end, about."""

_LINES_TO_LEARN_FROM = 64

_LONG, _COURSES = 500, 16
"""Turns from which on it is worth while to remember how a backlog was played through, and for how many chats."""


class Courses:
    """How the long backlogs of some chats were foreseen last, each with all that this followed from."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[int, tuple[object, Course]] = OrderedDict()

    def get(self, chat_key: int, basis: object) -> Course | None:
        """The course, if it followed from the same."""
        with self._lock:
            found = self._known.get(chat_key)
            return found[1] if found and found[0] == basis else None

    def put(self, chat_key: int, basis: object, course: Course) -> None:
        """Remember one; what was put in the longest ago is forgotten for it."""
        with self._lock:
            self._known[chat_key] = (basis, course)
            self._known.move_to_end(chat_key)
            while len(self._known) > _COURSES:
                self._known.popitem(last=False)


@dataclass(frozen=True)
class Estimating:
    """Foresees calls and what they are sent."""

    prompts: PromptLibrary
    counters: ChatCounters
    connections: Connections
    courses: Courses = field(default_factory=Courses)

    def backlog(self, session: Session, state: ChatState, count: Counts, reopened: int) -> tuple[int, Estimate]:
        """Turns over the window, and what folding them takes, the merges this causes included.

        `count`: of the chat's messages; `reopened` as for `read_waiting`.
        """
        layers = _layers(state)
        if state.later < _LONG or _stray(state):
            return self._played(session, state, layers, reopened)
        terms = self._terms(session, state)
        _, first = last_stretch(state)
        basis = _basis(state, count, reopened, terms)
        course = self.courses.get(state.chat.key, basis)
        found = course.rest(first, layers, terms) if course else None
        if found is None:
            [*_, stretch] = read_waiting(session, state, reopened=reopened)
            course = Course(stretch, layers, state.settings.layered, terms)
            self.courses.put(state.chat.key, basis, course)
            found = course.rest(first, layers, terms)
        return found or (count_over([stretch], state.settings.layered), Estimate())

    def _played(
        self, session: Session, state: ChatState, layers: list[list[int]], reopened: int
    ) -> tuple[int, Estimate]:
        layered, waiting = state.settings.layered, read_waiting(session, state, reopened=reopened)
        batches = foresee_batches(waiting, layered)
        found = estimate(batches, layers, layered, self._terms(session, state)) if batches else Estimate()
        return count_over(waiting, layered), found

    def _terms(self, session: Session, state: ChatState) -> Terms:
        layered, connection = state.settings.layered, self._connection(session, state)
        material = Material("User", "Assistant", "", "", state.settings.output_language)
        count = self.counters.counter_for(session, state.settings)
        fold, merge = (
            count(prompt.system) + count(prompt.user)
            for prompt in (self.prompts.render_fold(layered, material), self.prompts.render_merge(layered, material))
        )
        made = sizes.made_lately(session, state.chat.key, state.chat.strategy, _LINES_TO_LEARN_FROM)
        fold_factor = factor(_written(made, merges=False), layered)
        return Terms(
            fold_prompt=fold,
            merge_prompt=merge,
            speaker=_SPEAKER,
            width=width(connection, layered.backlog_concurrency),
            window=connection.context_size if connection else None,
            fold_factor=fold_factor,
            merge_factor=factor(_written(made, merges=True), layered, fold_factor),
        )

    def _connection(self, session: Session, state: ChatState) -> Connection | None:
        try:
            return self.connections.describe(session, state.settings.connection)
        except NotFound:
            return None


def width(connection: Connection | None, wanted: int) -> int:
    """How many calls run at once (`app.services.planning`)."""
    if connection is None or connection.provider == EXTRACTIVE.provider:
        return 1
    return max(1, min(wanted, connection.concurrency))


def _written(made: list[sizes.Made], *, merges: bool) -> Written:
    chosen = [one for one in made if (one.kind == "merge") is merges]
    return Written([one.tokens for one in chosen], [one.source_tokens for one in chosen])


def _layers(state: ChatState) -> list[list[int]]:
    """The tokens of the live snippets of each layer, oldest first."""
    layers: list[list[int]] = []
    for snippet in state.live:
        layers.extend([] for _ in range(snippet.core.layer + 1 - len(layers)))
        layers[snippet.core.layer].append(snippet.core.tokens)
    return layers


def _stray(state: ChatState) -> bool:
    """Whether turns that can fold lie before covered ones."""
    return any(turn.coverable and not turn.skipped for turn in last_stretch(state)[0].turns)


def _basis(state: ChatState, count: Counts, reopened: int, terms: Terms) -> object:
    """What a course follows from, as far as folding does not change it."""
    chat, said = state.chat, replace(count, ghosted=0, ghosted_tokens=0)
    made_with = replace(terms, fold_factor=1.0, merge_factor=1.0)
    return chat.epoch, chat.changes, chat.strategy, said, reopened, state.settings.layered, made_with
