"""Places phrases in a space of meaning, with the static word vectors inside the wordllama package.

Importing this module costs half a second and, with the vectors, 90 MB: only `app.llm.extractive` does it, when the
first summary is asked for.
"""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

# On import wordllama sets up logging for the whole process, unless logging is already set up.
_root = logging.getLogger()
_handlers, _level = _root.handlers[:], _root.level
import wordllama  # noqa: E402  # only now is the logging of before noted

_root.handlers[:] = _handlers
_root.setLevel(_level)

Vectors = npt.NDArray[np.float32]


class Space:
    """Phrases as unit vectors, one row each, and how near the memory so far is to each."""

    def __init__(self, vectors: Vectors, known: Sequence[Vectors]) -> None:
        self._vectors = vectors
        self._known = known

    def central(self) -> list[float]:
        """How near each phrase is to what all of them are about; 1 is the nearest."""
        return self._scaled(self._vectors @ self._vectors.mean(axis=0))

    def known(self) -> list[float]:
        """How near each phrase is to its nearest one in memory; 1 is the same, 0 has nothing to do with it."""
        nearest = np.zeros(len(self._vectors), dtype=np.float32)
        for phrases in self._known:
            np.maximum(nearest, (self._vectors @ phrases.T).max(axis=1), out=nearest)
        return [float(value) for value in nearest]

    def likeness(self, index: int) -> list[float]:
        """How near each phrase is to the one at `index`."""
        return [float(value) for value in self._vectors @ self._vectors[index]]

    @staticmethod
    def _scaled(values: Vectors) -> list[float]:
        return [float(value) for value in values / max(float(values.max()), 1e-6)]


class Embedding:
    """The word vectors, loaded. Shared by all threads: it is only read."""

    def __init__(self, split: Callable[[str], Sequence[str]]) -> None:
        """`split` takes a line of memory apart into its phrases."""
        self._split = split
        # Named, so that wordllama takes the files of its own package and looks for no download.
        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        model.tokenizer.no_padding()
        self._tokenizer = model.tokenizer
        self._words: Vectors = model.embedding
        # A chat's memory is the same from fold to fold but for one line.
        self._remembered = lru_cache(maxsize=2_048)(self._line_vectors)

    def space(self, phrases: Sequence[str], memory: Sequence[str]) -> Space:
        """Places `phrases`, at least one, beside the lines of `memory`."""
        lines = [self._remembered(line) for line in memory]
        return Space(self._vectors(phrases), [line for line in lines if len(line)])

    def _line_vectors(self, line: str) -> Vectors:
        return self._vectors(self._split(line))

    def _vectors(self, phrases: Sequence[str]) -> Vectors:
        valid = [phrase.encode("utf-8", "replace").decode() for phrase in phrases]  # a lone surrogate is refused
        encoded = self._tokenizer.encode_batch_fast(valid, add_special_tokens=False)
        rows = [self._words[phrase.ids].sum(axis=0) for phrase in encoded]
        sums = np.array(rows, dtype=np.float32).reshape(len(rows), self._words.shape[1])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        units: Vectors = np.divide(sums, np.maximum(lengths, 1e-6))
        return units
