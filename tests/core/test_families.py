"""app.core.families: whose tokens a model's name promises."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.families import FAMILIES, OPENAI, UNKNOWN, Family, family_of

NAMES = {
    "openai": ["gpt-4o", "openai/gpt-4o-mini", "gpt-4.1-nano", "gpt-4.5-preview", "gpt-5", "gpt-5.1-mini",
               "GPT-OSS:20b", "chatgpt-4o-latest", "o1", "o3-mini", "openai/o4-mini", "ft:gpt-4o:mine"],
    "openai-older": ["gpt-4", "gpt-4-turbo", "gpt-4-0613", "gpt-3.5-turbo-16k", "gpt-35-turbo", "openai/gpt-4:online"],
    "smollm": ["smollm2:135m", "HuggingFaceTB/SmolLM2-135M-Instruct"],
    "deepseek": ["deepseek-chat", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"],
    "qwen": ["qwen3:8b", "Qwen/Qwen2.5-7B-Instruct", "qwq-32b"],
    "llama": ["llama3.2:1b", "meta-llama/Llama-3.1-8B-Instruct", "llama-v3p1-8b-instruct", "Meta-Llama-4-Scout.gguf"],
    "llama-2": ["llama2:13b", "meta-llama/Llama-2-7b-chat-hf", "codellama", "vicuna-13b", "phi3:mini",
                "phi-2", "tinyllama", "llama-7b", "llama-65b"],
    "mistral": ["mistral-nemo", "Mistral-Small-3.2-24B", "ministral-8b", "mistralai/magistral-small"],
    "mistral-older": ["mistral", "mistral:7b", "mixtral-8x7b", "OpenHermes-2.5-Mistral-7B", "codestral"],
    "gemma": ["gemma3:4b", "google/gemini-2.5-flash"],
    "claude": ["anthropic/claude-3.5-sonnet", "claude-opus-4"],
    "phi": ["phi4", "microsoft/Phi-4-mini-instruct"],
    "jamba": ["ai21/jamba-1.5-mini"],
    "yi": ["yi:34b", "01-ai/Yi-1.5-9B"],
    "unknown": ["my-model", "command-r-plus", "gpt-j-6b", "gpt4all-falcon", "marco-o1", "grok-3", "",
                "o2", "yin-yang", "鯨"],
}  # fmt: skip


@pytest.mark.parametrize(("family", "model"), [(family, name) for family, names in NAMES.items() for name in names])
def test_names_tell_the_family(family: str, model: str) -> None:
    """A model's name, with its maker, size, tag or file ending, tells whose tokens it counts."""
    assert family_of(model).name == family


def test_every_family_is_named_by_something() -> None:
    """The names above reach all families, and each family has a name of its own."""
    assert NAMES.keys() == {family.name for family in FAMILIES}
    assert len(FAMILIES) == len(NAMES)


def test_no_model_is_counted_as_it_is() -> None:
    """Where there is no model, nothing is added; where its name says nothing, a quarter is."""
    assert family_of(None) is OPENAI
    assert (OPENAI.vocabulary, OPENAI.factor) == ("o200k_base", 1.0)
    assert (family_of("") is UNKNOWN, UNKNOWN.factor) == (True, 1.25)


@given(tokens=st.integers(0, 10**9), family=st.sampled_from(FAMILIES))
def test_scaling_rounds_up(tokens: int, family: Family) -> None:
    """A scaled count is the exact product rounded up, so it is never below the vocabulary's own count."""
    assert family.scaled(tokens) == math.ceil(Fraction(family.percent, 100) * tokens) >= tokens


@given(model=st.text(max_size=40))
def test_any_name_has_a_family(model: str) -> None:
    """No name is refused."""
    assert family_of(model) in FAMILIES
