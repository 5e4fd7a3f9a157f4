"""Families of models by name, and how their tokens are counted without a vocabulary of their own at hand.

Factors: each family's tokenizer against o200k_base on the same texts (two plays, a role-play chat, Markdown, code, and
the German, French, Spanish, Italian and Portuguese of a frontend's menus); the worst of these, rounded up to the next
5 %. docs/models.md, Counting tokens, shows the measurements.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Vocabulary = Literal["o200k_base", "cl100k_base"]


@dataclass(frozen=True, slots=True)
class Family:
    """Models that share a tokenizer: which vocabulary stands for theirs, and how many percent of its count is safe."""

    name: str
    vocabulary: Vocabulary = "o200k_base"
    percent: int = 100

    @property
    def factor(self) -> float:
        """The safety factor."""
        return self.percent / 100

    def scaled(self, tokens: int) -> int:
        """Tokens of the vocabulary as tokens of the family, rounded up."""
        return -(-tokens * self.percent // 100)


OPENAI = Family("openai")
OPENAI_OLDER = Family("openai-older", "cl100k_base")
UNKNOWN = Family("unknown", percent=125)

_FAMILIES = (
    (r"gpt-?(?:4o|4\.[15]|[5-9]|oss)|chatgpt|(?:^|[/:])o[134](?=$|[-:@])", OPENAI),
    (r"gpt-?(?:4(?=$|[-:@_])|3\.?5)", OPENAI_OLDER),
    (r"smollm", Family("smollm", percent=160)),
    (r"deepseek", Family("deepseek", percent=120)),
    (r"qwen|qwq", Family("qwen", percent=120)),
    (r"llama[-_ ]?v?[3-9](?!\d*b)", Family("llama", percent=120)),
    (r"llama|vicuna|mythomax|phi-?[1-3]", Family("llama-2", percent=135)),
    (r"nemo|ministral|pixtral|magistral|devstral|mistral-(?:small|medium)", Family("mistral", percent=115)),
    (r"mistral|mixtral|codestral|zephyr", Family("mistral-older", percent=140)),
    (r"gemma|gemini", Family("gemma", percent=120)),
    (r"claude", Family("claude", percent=135)),
    (r"phi-?\d", Family("phi", percent=120)),  # its tokenizer is derived from cl100k_base, which needs that much
    (r"jamba", Family("jamba", percent=130)),
    (r"(?<![a-z])yi(?![a-z])", Family("yi", percent=165)),
)
_PATTERNS = tuple((re.compile(pattern), family) for pattern, family in _FAMILIES)

FAMILIES = tuple(dict.fromkeys((*(family for _, family in _FAMILIES), UNKNOWN)))
"""All of them, in the order in which a name is tried."""


@lru_cache(maxsize=512)
def family_of(model: str | None) -> Family:
    """The family of a model by its name, as servers call it: with a maker before it, a size or a tag behind it.

    None is no model at all, which counts as o200k_base does; a name nobody knows, "" too, is `UNKNOWN`.
    """
    if model is None:
        return OPENAI
    name = model.casefold()
    return next((family for pattern, family in _PATTERNS if pattern.search(name)), UNKNOWN)
