"""What may be stored, whichever way it comes in: by the API or from a file (http-api.md, Conventions).

Text is what SQLite, PostgreSQL and UTF-8 all hold: no NUL, no lone surrogate.
"""

import re

MAX_CONTENT_BYTES = 1024 * 1024
"""The most text one message may hold, in UTF-8."""

MAX_ID_CHARS = 200

MAX_DEPTH = 100
"""How many JSON objects and lists may stand inside each other, the outermost counted."""

LAST_INDEX = 2**31 - 1
"""The last place that a message or a turn can have."""

MIN_INT, MAX_INT = -(2**63), 2**63 - 1
"""Whole numbers a database's column and other programs' JSON hold."""

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

# str.isprintable refuses them, but Persian and Indic names and emoji are joined by the first two, and the third is
# the space of Chinese and Japanese.
_PRINTABLE_TOO = str.maketrans("", "", "\u200c\u200d\u3000")


def is_printable(text: str) -> bool:
    """Whether a text has 1–200 characters and every one of them can be seen, joins others or is a space."""
    return 0 < len(text) <= MAX_ID_CHARS and text.translate(_PRINTABLE_TOO).isprintable()


def is_id(text: str) -> bool:
    """Whether a text can name a chat, a message or anything else that stands in a path."""
    return is_printable(text) and "/" not in text and text not in {".", ".."}


def is_too_long(content: str) -> bool:
    """Whether a text is over the limit of one message."""
    return len(content) * 4 > MAX_CONTENT_BYTES and len(content.encode()) > MAX_CONTENT_BYTES


def is_storable_int(number: int) -> bool:
    """Whether a whole number fits 64 bits."""
    return MIN_INT <= number <= MAX_INT
