"""Cuts chat text into phrases: whole sentences where they are short, whole clauses where they are not."""

import re
import unicodedata
from collections.abc import Iterator
from typing import cast

from nupunkt import sent_tokenize

# In UTF-8 bytes, which follow token counts in every script better than characters do: about 40 tokens.
LONGEST = 180
_SHORTEST_CLAUSE = 60
_WORD_HEAD = 40
_LONGEST_LETTER = 16  # a family emoji has 11 code points; a stack of accents has no end

_MARKUP = re.compile(
    r"^[ \t]*(?:```|~~~).*$"  # code fences, not the code
    r"|</?[a-zA-Z][^<>\n]{0,200}>"  # HTML
    r"|(?<![\w*])\*+(?=\S)|(?<=\S)\*+(?![\w*])"  # *actions* and **emphasis**, but not 2*3
    r"|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)"  # _emphasis_, but not snake_case
    r"|`+"
    r"|^[ \t]*(?:[#>]+|[-+•])[ \t]+",  # headings, quotes, lists
    re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[ \t]*[-+*•#>][ \t])")
# Chinese and Japanese write no spaces: . ! ? and half-width . end a sentence; , and the list comma, ; : a clause.
# nupunkt knows the ends of spaced scripts only.
_CJK_STOPS = "\u3002\uff01\uff1f\uff61"
_CJK_COMMAS = "\uff0c\u3001\uff1b\uff1a"
_CJK_END = re.compile(rf"(?<=[{_CJK_STOPS}])(?![{_CJK_STOPS}」』”’\uff09])")
_WORD = re.compile(rf"[^\s{_CJK_COMMAS}]+[{_CJK_COMMAS}]*\s*|[{_CJK_COMMAS}]+\s*")
_CLAUSE_END = re.compile(rf"(?:[,;:—–]\s+|[{_CJK_COMMAS}]\s*)$")
_QUOTES = (('"', '"'), ("“", "”"), ("「", "」"))

SENTENCE_END = re.compile(rf"[.!?…{_CJK_STOPS}]['\"”’»」』)]*$")
QUESTION = re.compile(r"[?\uff1f][\"'”’)」』]*$")


def phrases(text: str) -> list[str]:
    """The phrases of a text in order, each on one line and at most LONGEST bytes long, markup taken off.

    Words are never changed; an endless one without spaces (a key, base64) keeps its head only. Blank text has none,
    and text that is nothing but markup is one phrase as it stands.
    """
    found = [part for paragraph in _PARAGRAPH.split(text) for part in _sentences(_MARKUP.sub("", paragraph))]
    return found or [" ".join(text.split())][: len(text.split())]


def _sentences(paragraph: str) -> Iterator[str]:
    for sentence in cast("list[str]", sent_tokenize(paragraph)):  # pairs come only with return_confidence
        for part in _CJK_END.split(sentence):
            line = _unquoted(" ".join(part.split()))
            if _size(line) <= LONGEST:
                yield from [line] if line else []
            else:
                yield from _clauses(line)


def _unquoted(line: str) -> str:
    """Without quotation marks that lost their partner, or that hold the whole line."""
    for opening, closing in _QUOTES:
        inner = line.strip(opening + closing)
        whole = line.startswith(opening) and line.endswith(closing) and not {opening, closing} & set(inner)
        if whole or not _balanced(line, opening, closing):
            line = inner.strip() or line
    return line


def _balanced(line: str, opening: str, closing: str) -> bool:
    if opening == closing:
        return line.count(opening) % 2 == 0
    return line.count(opening) == line.count(closing)


def _clauses(sentence: str) -> Iterator[str]:
    """Packs words up to the limit and cuts at the last clause that ended late enough, else between words."""
    held: list[str] = []
    size = 0
    for word in _words(sentence):
        if held and size + _size(word) > LONGEST:
            cut = _last_clause(held)
            yield "".join(held[:cut]).strip()
            held = held[cut:]
            size = _size("".join(held))
        held.append(word)
        size += _size(word)
    yield "".join(held).strip()


def _last_clause(words: list[str]) -> int:
    for cut in range(len(words), 0, -1):
        if _CLAUSE_END.search(words[cut - 1]) and _size("".join(words[:cut])) >= _SHORTEST_CLAUSE:
            return cut
    return len(words)


def _words(sentence: str) -> Iterator[str]:
    for word in _WORD.findall(sentence):
        if _size(word) <= LONGEST:
            yield word
        elif word.isascii():
            yield f"{word[:_WORD_HEAD]}… "
        else:
            yield from _letters(word)


def _letters(word: str) -> Iterator[str]:
    """Scripts without spaces: cut anywhere but inside a letter with its marks or a joined emoji."""
    letter = ""
    for character in word:
        if letter and not (_joins(letter[-1], character) and len(letter) < _LONGEST_LETTER):
            yield letter
            letter = ""
        letter += character
    yield letter


def _joins(before: str, after: str) -> bool:
    joined = "\u200d" in (before, after)
    return joined or unicodedata.category(after).startswith("M") or "\U0001f3fb" <= after <= "\U0001f3ff"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
