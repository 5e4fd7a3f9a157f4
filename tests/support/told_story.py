"""The demo's story, and a model that seems to sum it up: believable material for pictures."""

import json
import re
from pathlib import Path
from typing import Any

from tests.support.fake_exchange import Request

STORY = Path(__file__).parents[2] / "static" / "demo" / "story.jsonl"
PLAYER = "Juno"
NARRATOR = "Captain Osk"
LABEL = re.compile(rf"^({PLAYER}|{NARRATOR}|[\w ]+ memory): ", re.MULTILINE)
SPOKEN = re.compile(r'"[^"]*"')
SENTENCE = re.compile(r"[A-Z][^.?!\n]+(?=\.)")
PERSONAL = re.compile(r"\b(I|[Mm]e|[Mm]y|[Yy]ou|[Yy]our)\b")
TAGGED = re.compile(r"<(?:passage|memory_lines|turns)>(.*?)</", re.DOTALL)


def story() -> list[dict[str, Any]]:
    """Its messages, as a chat file of SillyTavern has them."""
    _, *messages = [json.loads(line) for line in STORY.read_text(encoding="utf-8").splitlines()]
    return messages


def lines(first: int = 0, end: int | None = None) -> list[dict[str, Any]]:
    """Its messages from one place to before another, as the API takes them."""
    return [
        {
            "id": f"line-{number}",
            "role": "user" if told["is_user"] else "assistant",
            "name": told["name"],
            "content": told["mes"],
        }
        for number, told in enumerate(story()[first:end], first + 1)
    ]


def gist(request: Request) -> str:
    """What a model might say of a passage, or of memory that is merged: three of its sentences, of nobody's mouth."""
    passage = [request.user, *TAGGED.findall(request.user)][-1]
    told = LABEL.sub("", SPOKEN.sub("", passage)).replace("*", "")
    found = [one for one in SENTENCE.findall(told) if 45 < len(one) < 150]
    found = [one for one in found if not PERSONAL.search(one)] or found or ["They go on"]
    return " ".join(f"{found[len(found) * third // 6]}." for third in (1, 3, 5) if third < 2 * len(found))


def spent(request: Request, text: str) -> tuple[int, int]:
    """The tokens that this may have taken: of the prompt, and of the answer."""
    return len(request.user) // 4 + 150, len(text) // 4
