"""A picture of variants: latencies with each, their uncertainty, and where time goes."""

from __future__ import annotations

import io
import math
import textwrap
from typing import Any

import numpy as np

from birthmark.data.common.plot_style import COLOURS, STYLE
from birthmark.storage.what_if.compare import PARTS, Comparison

_SHOWN = ("p50", "p95")
_ROW_INCHES = 0.42
_LINE = 28
"""The most characters of a line of a variant's name."""
_OTHER = "#bbbbbb"
_BAND = "#e8e8e8"
_NOW = "#888888"
_THEMED = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    STYLE["grid.color"]: "var(--rule)",
    _BAND: "var(--rule)",
    _NOW: "var(--guess)",
}
"""Colours that follow the page's light or dark scheme."""
_BESIDE = 1.06
"""Factor by which a panel is wider than its contents, so that nothing is cut off."""
_COLOURED = {
    "processor": COLOURS[0],
    "processor_queue": COLOURS[5],
    "thread": COLOURS[6],
    "transfer": COLOURS[1],
    "disk_queue": COLOURS[4],
    "seek": COLOURS[3],
    "rotation": COLOURS[2],
    "connection": "#777777",
}
_LEAST_SHARE = 0.01
"""Parts below this share of the mean in every variant are not shown separately."""


def picture(of: Comparison) -> str:
    """Return a picture as SVG: the median and the 95th percentile of each variant, best first.

    Bars reach a standard deviation over the seeds to each side. Grey marks differences from the
    current server that are within the error of the prediction.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = [_wrapped(each.name) for each in of.variants]
    lines = sum(1 + name.count("\n") for name in names)

    with rc_context(STYLE):
        height = 2.2 + _ROW_INCHES * lines
        figure = Figure(figsize=(13, height), layout="constrained")
        panels = figure.subplots(1, len(_SHOWN) + 1, sharey=True, width_ratios=(1, 1, 1.3))
        for panel, metric in zip(panels, _SHOWN, strict=False):
            _latencies(panel, of, metric)
        _parts(panels[-1], of)
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_ylim(len(of.variants) - 0.5, -0.5)
        return _svg(figure)


def _wrapped(name: str) -> str:
    """Return a name in short lines, as axes have them."""
    parts = [textwrap.wrap(part, _LINE) for part in name.replace(",", ",\n").split("\n")]
    return "\n".join(line for part in parts for line in part)


def _latencies(panel: Any, of: Comparison, metric: str) -> None:
    kind = of.options.operation
    values = np.array([each.figures[kind][metric] for each in of.variants])
    spread = np.array([each.spread[kind][metric] for each in of.variants])
    error, now = of.fit.held_out.error(kind, metric), of.now().figures[kind][metric]
    if error != math.inf:
        panel.axvspan(now * math.exp(-error), now * math.exp(error), color=_BAND, zorder=0)
    panel.axvline(now, color=_NOW, linewidth=1, zorder=1)
    low = np.minimum(spread, values * 0.99)
    rows = np.arange(len(values))
    panel.errorbar(values, rows, xerr=[low, spread], fmt="o", color=COLOURS[-1], capsize=4)
    if values.max() > 20 * max(values.min(), 1e-3):
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panel.xaxis.minorticks_off()
    else:
        panel.set_xlim(0, float((values + spread).max()) * _BESIDE)
    off = "error not known" if error == math.inf else f"off by {math.expm1(error):.0%}"
    panel.set_title(f"{metric} of {kind} calls, μs\n({off})", fontsize=12)
    panel.grid(axis="y", visible=False)


def _parts(panel: Any, of: Comparison) -> None:
    kind = of.options.operation
    parts = [each.parts[kind] for each in of.variants]
    whole = [max(sum(own.values()), 1e-9) for own in parts]
    shown = [
        name
        for name in PARTS
        if any(own[name] / all_ > _LEAST_SHARE for own, all_ in zip(parts, whole, strict=True))
    ]
    rows, left = np.arange(len(parts)), np.zeros(len(parts))
    for name in shown:
        widths = np.array([own[name] for own in parts])
        colour, label = _COLOURED.get(name, _OTHER), PARTS[name].removeprefix("of ")
        panel.barh(rows, widths, 0.62, left, color=colour, label=label, edgecolor="white")
        left += widths
    if of.options.metric == "mean" and of.error != math.inf:
        now = of.now().value
        panel.axvspan(now * math.exp(-of.error), now * math.exp(of.error), color=_BAND, zorder=0)
    panel.set_axisbelow(True)
    panel.set_title(f"mean of {kind} calls, μs,\nby where it goes", fontsize=12)
    panel.grid(axis="y", visible=False)


def _svg(figure: Any) -> str:
    """Return a figure as an element of a page, on its ground and in its colours."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    text = out.getvalue()
    for colour, themed in _THEMED.items():
        text = text.replace(colour, themed)
    return text[text.index("<svg") :]
