"""Finding chats by what they are called."""

import unicodedata
from collections.abc import Iterable, Sequence


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query, as `holds_all` compares them."""
    return tuple(_plain(query).split())


def holds_all(names: Iterable[str | None], words: Sequence[str]) -> bool:
    """Whether each word is a part of one of the names, whatever its case and width; no words are in all."""
    plain = [_plain(name) for name in names if name]
    return all(any(word in name for name in plain) for word in words)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
