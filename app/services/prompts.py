"""The prompts a summarizer gets, and the block of memory a chat gets.

Our own prompts are Jinja2 files. They are rendered once, each variable standing for its own `{{name}}`; from there
on they are filled like a person's own templates, so chat text never passes through Jinja2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.core.settings import LayeredSettings
from app.core.template import fence, fill

_VARIABLES = ("player_name", "context_str", "story_txt", "max_tokens", "char", "user", "output_language", "summary")
_REWRITE_VARIABLES = ("previous_summary", "turns", "max_summary_tokens")
_OWN_VARIABLES = {name: "{{" + name + "}}" for name in _VARIABLES + _REWRITE_VARIABLES}
_PRESETS: tuple[Literal["narrative", "game_state"], ...] = ("narrative", "game_state")
_TAGS = ("prior_context", "passage", "memory_lines")
_REWRITE_TAGS = ("previous_summary", "turns")
_SUMMARY_TAG = "conversation_summary"
_NO_CONTEXT = "(none yet)"
_SAME_LANGUAGE = "the language of the conversation"


@dataclass(frozen=True, slots=True)
class PresetTexts:
    """A preset as a person can copy it: its texts in the syntax of their own templates (`app.core.template.fill`)."""

    name: str
    focus: str
    system_prompt: str
    user_prompt: str
    merge_prompt: str


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """All a model sees: its instructions, and the prior context with the passage."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Material:
    """What goes into a prompt. `output_language` is a language's name, or `auto` for the conversation's own."""

    user: str
    char: str
    context: str
    story: str
    output_language: str = "auto"


class PromptLibrary:
    """The prompts of one folder, read and rendered once. Shared by all threads."""

    def __init__(self, folder: Path) -> None:
        """Raises jinja2.TemplateError if a prompt is missing, broken or uses a variable that does not exist."""
        # Autoescaping is for HTML: it would turn the quotes and angle brackets of a prompt into entities.
        self._files = Environment(loader=FileSystemLoader(folder), undefined=StrictUndefined, autoescape=False)
        self._presets = {name: self._preset(name) for name in _PRESETS}
        self._rewrites = {name: self._rewrite(name) for name in ("rolling", "summary_buffer")}
        self._injection = self._text("injection")
        self._label = self._text("memory_label")

    def presets(self) -> list[PresetTexts]:
        """The presets there are, the default one first."""
        return list(self._presets.values())

    def render_fold(self, settings: LayeredSettings, material: Material) -> RenderedPrompt:
        """The prompt for one line of memory: what the story tells and the context, the memory so far, does not."""
        texts = self._texts(settings)
        return _filled(texts.system_prompt, texts.user_prompt, settings, material)

    def render_merge(self, settings: LayeredSettings, material: Material) -> RenderedPrompt:
        """The prompt that condenses the story, lines of memory, into one; the context is the deeper memory."""
        texts = self._texts(settings)
        return _filled(texts.system_prompt, texts.merge_prompt, settings, material)

    def render_rewrite(self, strategy: str, material: Material, limit: int) -> RenderedPrompt:
        """The prompt that writes the one summary of a strategy anew: the context is the summary so far, the story the
        turns after it.
        """
        texts = self._rewrites[strategy]
        values = rewrite_values(material.output_language, limit) | {
            "previous_summary": fence_rewrite(material.context) if material.context.strip() else _NO_CONTEXT,
            "turns": fence_rewrite(material.story),
        }
        return RenderedPrompt(fill(texts.system, values), fill(texts.user, values))

    def memory_block(self, settings: LayeredSettings, summary_text: str) -> str:
        """The memory as it stands in a chat's prompt: a line that says what it is, then the wrapper around it.

        Without a summary there is nothing.
        """
        if not summary_text.strip():
            return ""
        wrapper = settings.injection_template or self._injection
        return f"{self._label}\n{fill(wrapper, {'summary': fence(summary_text, _SUMMARY_TAG)})}"

    def _texts(self, settings: LayeredSettings) -> PresetTexts:
        if settings.preset != "custom":
            return self._presets[settings.preset]
        spare = self._presets["narrative"]
        return PresetTexts(
            name="custom",
            focus="",
            system_prompt=settings.system_prompt or spare.system_prompt,
            user_prompt=settings.user_prompt or spare.user_prompt,
            merge_prompt=settings.merge_prompt or settings.user_prompt or spare.merge_prompt,
        )

    def _preset(self, name: str) -> PresetTexts:
        focus, system, user, merge = (
            self._text(f"presets/{name}/{part}") for part in ("focus", "system", "user", "merge")
        )
        return PresetTexts(name, focus, system, user, merge)

    def _rewrite(self, name: str) -> RenderedPrompt:
        return RenderedPrompt(self._text(f"{name}/system"), self._text(f"{name}/user"))

    def _text(self, name: str) -> str:
        return self._files.get_template(f"{name}.md.j2").render(_OWN_VARIABLES)


def fence_rewrite(text: str) -> str:
    """`text` that cannot leave its place in a prompt that writes a summary anew."""
    return fence(text, *_REWRITE_TAGS)


def rewrite_values(output_language: str, limit: int) -> dict[str, str]:
    """What stands in the instructions of such a prompt, a person's own ones too."""
    return {"max_summary_tokens": str(limit), "output_language": _language(output_language)}


def _filled(system: str, user: str, settings: LayeredSettings, material: Material) -> RenderedPrompt:
    values = _values(settings, material)
    return RenderedPrompt(fill(system, values), fill(user, values))


def _values(settings: LayeredSettings, material: Material) -> dict[str, str]:
    return {
        "player_name": _name(material.user or "User"),
        "char": _name(material.char),
        "user": _name(material.user),
        "context_str": fence(material.context, *_TAGS) if material.context.strip() else _NO_CONTEXT,
        "story_txt": fence(material.story, *_TAGS),
        "max_tokens": str(settings.snippet_tokens),
        "output_language": _language(material.output_language),
    }


def _language(name: str) -> str:
    return _SAME_LANGUAGE if name in ("", "auto") else _name(name)


def _name(text: str) -> str:
    """A name on one line: it stands outside the fences."""
    return " ".join(fence(text, *_TAGS, *_REWRITE_TAGS).split())
