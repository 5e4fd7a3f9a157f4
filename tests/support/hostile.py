"""Texts that try to be more than text, a chat that is full of them, and what to look for where it is shown."""

from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page

from tests.support.fake_model import FakeModel
from tests.support.service import Service
from tests.support.strata import SMALL

MARKUP = "<script>__pwned=1</script><img src=x onerror=__pwned=1><b onclick=__pwned=1>b</b><svg onload=__pwned=1>"
LINKS = (
    "[a](javascript:__pwned=1) ![i](https://evil.example/i.png) <a href='javascript:__pwned=1'>c</a> &lt;b&gt; &amp;"
)
TEMPLATES = "{{7*7}} ${__pwned=1} #{7*7} <%= 7*7 %> %s </textarea></script><!--"
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f3f3\ufe0f\u200d\U0001f308"
SIGNS = "\u202efdp\u202c \u2067\u05e9\u05dc\u05d5\u05dd \u200f\u061c zero\u200bwidth\u2060 e" + "\u0301" * 40 + EMOJI
HOSTILE = " ".join([MARKUP, LINKS, TEMPLATES, SIGNS])
LONG = "w" * 100_000
NAME = f"\u202e\u05e9<img src=x onerror=__pwned=1><b>&amp;{{{{7*7}}}}${{7*7}}{EMOJI}{'w' * 300}"
"""Of a chat, a person, a model: no longer than the server takes."""
ID = "<img src=x onerror=__pwned=1>\u05e9&amp;{{7}}%2e%00" + "w" * 100
"""Of a chat or a connection, which stands in addresses."""

# Elements that are none of the dashboard's own.
_MADE = """() => [...document.querySelectorAll(`script:not([src^="/static/"]), img:not([src^="/static/"]), iframe,
        object, embed, base, meta[http-equiv], form[action], [onclick], [onerror], [onload], :is(.said, bdi) :not(mark),
        a[href]:not([href^="#/"]):not([href="#main"]):not([href="/docs"]):not([href^="blob:"])`)]
    .filter((one) => !one.closest('noscript')).map((one) => one.outerHTML.slice(0, 200))
    .concat(window.__pwned === undefined ? [] : ['a script ran'])"""
# What reaches over the right edge and neither can be scrolled nor is clipped where it stands.
_WIDER = """() => {
    const width = document.documentElement.clientWidth;
    const over = (one) => one.getClientRects().length && one.getBoundingClientRect().right > width + 1;
    const free = (one) => !one || (getComputedStyle(one).overflowX === 'visible' && free(one.parentElement));
    return [...document.querySelectorAll('main *, .notices *, dialog[open] *')]
        .filter((one) => over(one) && free(one.parentElement))
        .map((one) => `${one.tagName}.${one.className} ends at ${one.getBoundingClientRect().right}`).slice(0, 5);
}"""

# Text that turns the direction of what is beside it, and is not set apart from the page's own words.
_LOOSE = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const inline = (one) => getComputedStyle(one).display.startsWith('inline');
    const bidi = (one) => getComputedStyle(one).unicodeBidi;
    const apart = (one) => bidi(one) === 'plaintext'
        || (inline(one) && (bidi(one) !== 'normal' || apart(one.parentElement)));
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const one = node.parentElement;
        const shown = one.getClientRects().length && !one.closest('.unseen, option, textarea');
        if (shown && /[\u202a-\u202e\u2066-\u2069]/.test(node.data) && !apart(one)) {
            found.push(one.outerHTML.slice(0, 300));
        }
    }
    return found;
}"""


def made(page: Page) -> list[str]:
    """Elements that a text became, and whether one ran."""
    found: list[str] = page.evaluate(_MADE)
    return found


def wider(page: Page) -> list[str]:
    """What stands over the right edge of the page, or of an open dialog."""
    found: list[str] = page.evaluate(_WIDER)
    return found


def loose(page: Page) -> list[str]:
    """Text that could turn the words beside it around."""
    found: list[str] = page.evaluate(_LOOSE)
    return found


def connect(service: Service, model: FakeModel, name: str = ID) -> None:
    """A connection to the scripted model, called so."""
    fields = {"provider": "openai", "base_url": model.base_url, "model": NAME}
    answer = service.put(f"/connections/{quote(name, safe='')}", fields)
    assert answer.is_success, answer.text


def hostile_chat(service: Service, chat: str, model: FakeModel) -> None:
    """A folded chat whose names, messages and snippets are such texts, and its connection's name."""
    model.default = lambda _request: HOSTILE
    connect(service, model)
    settings = {"on_backlog": "all", "connection": ID, "layered": {**SMALL, "snippet_tokens": 1000}}
    body = {"title": NAME, "user_name": NAME, "character_name": NAME, "settings": settings}
    answer = service.put(f"/chats/{quote(chat, safe='')}", body)
    assert answer.is_success, answer.text
    lines = [HOSTILE, HOSTILE, LONG, HOSTILE + LONG[:3000]] * 3
    messages: list[dict[str, Any]] = [
        {"id": f"m{n}", "role": ("user", "assistant")[n % 2], "name": NAME, "content": text}
        for n, text in enumerate(lines)
    ]
    answer = service.post(f"/chats/{quote(chat, safe='')}/messages", {"messages": messages, "fold": "wait"})
    assert answer.status_code == 201, answer.text
