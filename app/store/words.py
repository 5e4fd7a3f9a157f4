"""Text as the search index holds it, and queries in its terms.

FTS5's tokenizer splits text where letters end. Scripts that put no spaces between words would come out as whole
sentences, so their runs become pairs that overlap, and the last character alone: 我们去 as 我们, 们去, 去. Then one
character is found as the beginning of a pair, a longer word as pairs in a row.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MOST_PARTS = 32
"""How many words and phrases of one query count: each costs a walk through the index."""

# Letters, marks and digits of scripts written without spaces, and Hangul, whose particles cling to their nouns.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"  # Thai
    "\u0e81-\u0edf"  # Lao
    "\u1000-\u1049\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17dc-\u17e9"  # Khmer
    "\u1950-\u19df\u1a20-\u1a99\uaa80-\uaadf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet
    "\ua984-\ua9c0\u1b00-\u1b59"  # Javanese, Balinese
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u303b\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Kana, marks of repetition
    "\u3105-\u312f\u31a0-\u31bf\ua000-\ua48c"  # Bopomofo, Yi
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_LAST_RUN = re.compile(f"[{_UNSPACED}]+$")
# Soft hyphens, joiners, spaces of no width, selectors of glyphs: they change how a word looks, not which one it is.
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+")
# A quick look: a text without any of these has nothing to take out or apart.
_RARE = re.compile("[\u00ad\u0e00-\u1fff\u200b-\u200d\u2060\u2e80-\U0010ffff]")
_QUOTED = re.compile('["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d\u201e]')
_INSIDE = "'\u2019-._@"
"""What stands inside words: whatever it joins must be found side by side."""


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a query, or a phrase. `whole`: it stood in double quotes, and its end is the end of a word."""

    text: str
    whole: bool = False


def teach(connection: sqlite3.Connection) -> None:
    """Let a connection prepare texts: the triggers that keep the index call it `turnfold_words`.

    SQLite may be built so that triggers call no function of an application's, for databases that strangers made.
    """
    connection.execute("PRAGMA trusted_schema = ON")
    connection.create_function("turnfold_words", 1, prepared, deterministic=True)


def prepared(text: str) -> str:
    """A text for the index. ASCII is taken as it is."""
    if text.isascii():
        return text
    plain = _plain(text)
    return _spread(plain) if _RARE.search(plain) else plain


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _UNSEEN.sub("", folded) if _RARE.search(folded) else folded


def _spread(plain: str) -> str:
    return _RUN.sub(_pairs, plain)


def _pairs(found: re.Match[str]) -> str:
    run = found[0]
    return f" {' '.join([run[place : place + 2] for place in range(len(run))])} "


def read_query(query: str) -> list[Part]:
    """The words and phrases of a query, each once and in order; nothing for a query without a letter or digit."""
    return list(dict.fromkeys(_parts(_plain(query))))[:MOST_PARTS]


def _parts(plain: str) -> Iterator[Part]:
    rest = 0
    for quoted in _QUOTED.finditer(plain):
        yield from map(Part, _words(plain[rest : quoted.start()]))
        if words := _words(quoted[1]):
            yield Part(" ".join(words), whole=True)
        rest = quoted.end()
    yield from map(Part, _words(plain[rest:]))


def _words(plain: str) -> list[str]:
    kept = "".join(char if _is_letter(char) or char in _INSIDE else " " for char in plain)
    return [word for word in (found.strip(_INSIDE) for found in kept.split()) if word]


def _is_letter(char: str) -> bool:
    """Whether the index holds it: a letter, mark or digit, or one of somebody's own (the migration's tokenizer)."""
    kind = unicodedata.category(char)
    return kind[0] in "LMN" or kind == "Co"


def in_fts5(part: Part) -> str:
    """A part as a string of FTS5's query language. The beginning of a word is enough, unless its end is asked for.

    A single letter is a word: as the beginning of one it would stand for half of the index.
    """
    last = _LAST_RUN.search(part.text)
    words = _spread(part.text).split()
    if last and len(last[0]) > 1:
        words.pop()  # the run may go on in the text, and then nothing stands alone there
    begins = len(last[0]) == 1 if last else not part.whole and _ends_long(part.text)
    return f'"{" ".join(words)}"{" *" if begins else ""}'


def _ends_long(text: str) -> bool:
    return len(text) > 1 and _is_letter(text[-2]) and _is_letter(text[-1])
