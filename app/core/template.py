"""People's own templates: `{{name}}` and nothing else, so that chat text can never become a template."""

import re
from collections.abc import Mapping

_HARMLESS = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with every `{{name}}` replaced by its value, in one pass (layered.md, When an answer becomes memory).

    Values are data: `{{…}}`, `{% … %}` and `$&` in them stay as they are. So do names that `values` does not have.
    """
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), template)


def fence(text: str, *tags: str) -> str:
    """`text` that can neither open nor close one of `tags`: the `<` of such a tag becomes U+2039.

    Nothing else changes. Tags are met in any case, with spaces, attributes or a missing end: models read those too.
    """
    names = "|".join(re.escape(tag) for tag in tags)
    return re.sub(rf"<(?=\s*(?:/\s*)?(?:{names})(?![\w-]))", _HARMLESS, text, flags=re.IGNORECASE) if tags else text
