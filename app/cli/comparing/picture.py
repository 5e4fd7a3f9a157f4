"""The chart of a comparison: an SVG that needs nothing from elsewhere, on a light page or a dark one."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pygal
from pygal.style import Style

from app.cli.comparing.report import Played
from app.cli.showing import printable

# pygal leaves an importer for its maps behind, of a kind that Python warns of at every import that fails.
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]

_SVG = "http://www.w3.org/2000/svg"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


class _Ink(NamedTuple):
    """A line's colour on a light page and on a dark one."""

    light: str
    dark: str


_INKS: Mapping[str, _Ink] = {
    "layered": _Ink("#1f6feb", "#6cb0ff"),
    "rolling": _Ink("#c2410c", "#ff9d66"),
    "summary_buffer": _Ink("#0f7b57", "#56d3a3"),
    "none": _Ink("#6e7781", "#a3adb8"),
}
_BUDGET = _Ink("#b3b9c1", "#5c6570")
_LIGHT, _DARK = "#fbfbf9", "#16191e"
_TICKS = 8
_ROUND = (1, 2, 5)


def draw(played: Played) -> str:
    """The tokens sent at each turn, a line a strategy, and the budget they had."""
    inks = [_INKS[strategy] for strategy in played.moments] + [_BUDGET]
    chart = pygal.XY(_config(played, inks))
    for strategy, moments in played.moments.items():
        chart.add(strategy, [(moment.turn, moment.sent) for moment in moments if moment.sent])
    chart.add("budget", [(1, played.budget), (played.turns, played.budget)], stroke_style=_DASHED)
    chart.uuid = _ID
    return _cleaned(chart.render(is_unicode=True), _description(played))


_ID = "compare"
_DASHED = {"width": 1.5, "dasharray": "6, 5"}


def _config(played: Played, inks: Sequence[_Ink]) -> pygal.Config:
    return pygal.Config(
        style=_style(inks),
        css=["file://style.css", "file://graph.css", f"inline:{_css(inks)}"],
        js=[],
        width=880,
        height=460,
        margin=26,
        title=f"Tokens sent, turn by turn: {printable(Path(played.file).name)}",
        x_title="turn",
        show_dots=False,
        stroke_style={"width": 1.8, "linejoin": "round"},
        show_x_guides=False,
        x_labels=ticks(played.turns),
        range=(0, _top(played)),
        value_formatter="{:,.0f}".format,
        x_value_formatter="{:,.0f}".format,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(inks),
        legend_box_size=11,
        truncate_legend=-1,
        print_values=False,
    )


def _style(inks: Sequence[_Ink]) -> Style:
    return Style(
        background=_LIGHT,
        plot_background=_LIGHT,
        foreground="#424a53",
        foreground_strong="#1f2328",
        foreground_subtle="#d5d9de",
        colors=tuple(ink.light for ink in inks),
        opacity="1",
        opacity_hover="1",
        font_family=_FONT,
        title_font_size=17,
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=13,
        guide_stroke_color="#e4e6ea",
        major_guide_stroke_color="#e4e6ea",
        guide_stroke_dasharray="0",
        major_guide_stroke_dasharray="0",
        stroke_width="1.8",
        stroke_opacity="1",
        stroke_opacity_hover="1",
        transition="0s",
    )


def _css(inks: Sequence[_Ink]) -> str:
    """What pygal's own rules leave open, and the same picture on a dark page."""
    lines = "".join(
        f"#chart-{_ID} .color-{place}{{stroke:{ink.dark};fill:{ink.dark}}}" for place, ink in enumerate(inks)
    )
    return (
        f"#chart-{_ID} .plot .series path{{fill:none}}"
        f"#chart-{_ID} .axis .guide.line{{stroke-width:1}}#chart-{_ID} .axis .line{{stroke:#c3c8ce}}"
        f"#chart-{_ID} .axis .major.guide.line{{stroke:#e4e6ea}}"
        f"#chart-{_ID} .axis text,#chart-{_ID} .axis text.major{{fill:#57606a}}"
        f"#chart-{_ID} .plot_title{{font-weight:600}}"
        f"#chart-{_ID} .title:not(.plot_title){{font-size:13px;fill:#57606a}}"
        f"@media(prefers-color-scheme:dark){{{lines}"
        f"#chart-{_ID},#chart-{_ID} .graph>.background,#chart-{_ID} .plot>.background"
        f"{{background-color:{_DARK};fill:{_DARK}}}"
        f"#chart-{_ID} .title,#chart-{_ID} .legends .legend text{{fill:#d7dce2}}"
        f"#chart-{_ID} .axis text,#chart-{_ID} .axis text.major,#chart-{_ID} .title:not(.plot_title){{fill:#a3adb8}}"
        f"#chart-{_ID} .axis .guide.line,#chart-{_ID} .axis .major.guide.line,#chart-{_ID} .axis .line"
        "{stroke:#2b3138}}"
    )


def ticks(last: int) -> list[int]:
    """Round turns for the axis, eight at most, the first and the last among them."""
    step = next(unit * 10**power for power in range(10) for unit in _ROUND if last / (unit * 10**power) <= _TICKS)
    between = [turn for turn in range(step, last, step) if turn > 1 and last - turn > step / 2]
    return sorted({1, *between, last})


def _top(played: Played) -> int:
    return max(played.budget, *(moment.sent for moments in played.moments.values() for moment in moments))


def _description(played: Played) -> str:
    told = (f"{line.strategy}: median {line.median_sent:,}, at most {line.peak_sent:,}" for line in played.accounts)
    return f"{played.turns} turns, budget {played.budget:,} tokens. {'; '.join(told)}."


def _cleaned(rendered: str, description: str) -> str:
    """Without scripts and comments, and told in words for those who do not see it."""
    picture = ElementTree.fromstring(rendered)  # which leaves comments out
    for parent in picture.iter():
        for child in [child for child in parent if child.tag == f"{{{_SVG}}}script"]:
            parent.remove(child)
    picture.set("role", "img")
    described = ElementTree.Element(f"{{{_SVG}}}desc")
    described.text = description
    picture.insert(0, described)
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(picture, encoding="unicode")
