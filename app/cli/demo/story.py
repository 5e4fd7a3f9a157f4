"""The demo's story, turn by turn."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from app.formats.parsed import ParsedMessage
from app.formats.recognize import open_chat
from app.resources import resource_dir
from app.services.recording import Draft

TITLE = "The Dry Mail"


@dataclass(frozen=True, slots=True)
class Story:
    """Who plays, and the messages of each turn."""

    user_name: str
    character_name: str
    turns: list[list[Draft]]

    @property
    def messages(self) -> list[Draft]:
        """All messages in order."""
        return [message for turn in self.turns for message in turn]


def read_story(limit: int | None) -> Story:
    """The story, or its first turns."""
    with (resource_dir("static") / "demo" / "story.jsonl").open("rb") as file:
        chat = open_chat(file)
        turns = list(islice(_turns(chat.messages), limit))
    return Story(chat.user_name or "User", chat.character_name or "Assistant", turns)


def _turns(messages: Iterable[ParsedMessage]) -> Iterator[list[Draft]]:
    turn: list[Draft] = []
    for message in messages:
        turn.append(Draft(message.role, message.content, name=message.name, created_at=message.created_at))
        if turn[-1].closes:
            yield turn
            turn = []
