"""What became of every fact, read over REST alone, and whether each that is not in memory any more is accounted for.

Nothing here knows how memory is made: it walks from what is live down to the messages, as anyone can.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import quote

from bench.markers.reader import Reading
from bench.markers.story import Story, facts_in, name

Row = dict[str, Any]


class Service(Protocol):
    """Where a chat is read."""

    def get(self, path: str) -> Any:
        """The JSON of a GET."""
        ...


@dataclass(frozen=True)
class Survey:
    """A chat's memory beside the story it was made of. `under` are the ids of the messages under each live snippet."""

    story: Story
    messages: Sequence[Row]
    snippets: Sequence[Row]
    under: dict[str, list[str]]
    status: Row
    readings: Sequence[Reading]

    @cached_property
    def live(self) -> list[Row]:
        """The snippets of the prompt, in reading order."""
        return [snippet for snippet in self.snippets if snippet["state"] == "live"]

    @cached_property
    def remembered(self) -> Counter[int]:
        """How many live snippets tell each fact."""
        return Counter(number for snippet in self.live for number in facts_in(snippet["text"]))

    @cached_property
    def verbatim(self) -> set[int]:
        """The facts that visible messages tell."""
        return {number for m in self.messages if not m["ghosted"] for number in facts_in(m["content"])}

    @cached_property
    def prompted(self) -> set[int]:
        """The facts a prompt holds, in its memory or word for word."""
        return self.verbatim | set(self.remembered)

    @cached_property
    def missing(self) -> list[int]:
        """The facts no prompt holds."""
        return sorted(set(self.story.told) - self.prompted)

    @cached_property
    def layers(self) -> dict[int, list[int]]:
        """The facts first told under each layer, deepest first."""
        layer_of = {message: snippet["layer"] for snippet in self.live for message in self.under[snippet["id"]]}
        found: defaultdict[int, list[int]] = defaultdict(list)
        for number, turns in self.story.told.items():
            if f"a{turns[0]}" in layer_of:
                found[layer_of[f"a{turns[0]}"]].append(number)
        return dict(sorted(found.items(), reverse=True))

    @cached_property
    def told_again_in_vain(self) -> list[int]:
        """Missing facts that the story tells a second time or more."""
        return [number for number in self.missing if len(self.story.told[number]) > 1]

    def holes(self) -> Iterator[str]:
        """What breaks promise 1: messages neither visible nor under exactly one live snippet, or under what is gone."""
        times = Counter(message for ids in self.under.values() for message in ids)
        for message in self.messages:
            if times[message["id"]] != (1 if message["ghosted"] else 0):
                yield f"message {message['id']} is ghosted={message['ghosted']}, under {times[message['id']]} snippets"
        held = {message["id"]: facts_in(message["content"]) for message in self.messages}
        for number, turns in self.story.told.items():
            if any(all(number not in held.get(f"{side}{turn}", ()) for side in "ua") for turn in turns):
                yield f"fact {number} stands in no message of its turn"

    def unexplained(self) -> Iterator[str]:
        """What the model's own log does not account for: snippets that are no answer to what is under them, and facts
        that are missing though the model never dropped them.
        """
        answers = {(reading.merges, reading.given, reading.text) for reading in self.readings}
        for snippet, merges, given in self._made():
            if (merges, given, snippet["text"]) not in answers:
                yield f"snippet {snippet['id']} is not what the model said of the facts {sorted(given)}"
        dropped = {number for reading in self.readings for number in reading.dropped}
        for number in self.missing:
            if number not in dropped:
                yield f"fact {number} is missing, and the model did not drop it"

    def _made(self) -> Iterator[tuple[Row, bool, frozenset[int]]]:
        """Every snippet from the live ones down, whether it was merged, and the facts of what it was made of."""
        parts: defaultdict[str, list[Row]] = defaultdict(list)
        for snippet in self.snippets:
            parts[snippet["parent_id"]].append(snippet)
        told: defaultdict[str, set[int]] = defaultdict(set)
        for message in self.messages:
            told[message["snippet_id"]].update(facts_in(message["content"]))
        level = self.live
        while level:
            for snippet in level:
                sources = parts[snippet["id"]]
                given = {number for part in sources for number in facts_in(part["text"])}
                yield snippet, bool(sources), frozenset(given if sources else told[snippet["id"]])
            level = [part for snippet in level for part in parts[snippet["id"]]]


def survey(service: Service, chat: str, story: Story, readings: Sequence[Reading]) -> Survey:
    """Read all of a chat's messages and memory."""
    path = f"/v1/chats/{chat}"
    snippets = _all(service, f"{path}/snippets?state=all")
    live = [snippet["id"] for snippet in snippets if snippet["state"] == "live"]
    return Survey(
        story=story,
        messages=_all(service, f"{path}/messages?state=all"),
        snippets=snippets,
        under={key: [m["id"] for m in _all(service, f"{path}/snippets/{key}/messages?")] for key in live},
        status=service.get(f"{path}/status"),
        readings=readings,
    )


def not_found(service: Service, chat: str, found: Survey) -> list[int]:
    """The missing facts that a search for their name does not lead to, in a message that tells them."""
    return [number for number in found.missing if not _finds(service, chat, found.story, number)]


def _finds(service: Service, chat: str, story: Story, number: int) -> bool:
    hits = service.get(f"/v1/chats/{chat}/search?limit=20&q={quote(name(number))}")["items"]
    told = {f"{side}{turn}" for turn in story.told[number] for side in "ua"}
    return any(hit["message_id"] in told and name(number) in hit["excerpt"] for hit in hits)


def _all(service: Service, path: str) -> list[Row]:
    items: list[Row] = []
    cursor = ""
    while True:
        page = service.get(f"{path}&limit=1000{cursor}".replace("?&", "?"))
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        cursor = f"&cursor={quote(page['next_cursor'])}"
