"""Pictures of the figures and summary tables of Hsu and Smith."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from birthmark.data.common import plot_style
from birthmark.research.papers.claims import Figures
from birthmark.research.papers.io_experiments import BUFFERS, MARKS, SWEPT, UNITS_KB, WEIGHTS, YEARS

SUMMARY: Mapping[str, tuple[str, tuple[float, float]]] = {
    "cache, reads": ("caching {} reads response", (4.49, 37.4)),
    "prefetching, reads": ("prefetching {} reads response", (46.6, 51.1)),
    "write buffer, writes": ("write buffer {} writes response", (93.8, 96.0)),
    "queue depth 8, reads": ("depth 8 {} reads response", (16.2, 17.0)),
    "queue depth 8, writes": ("depth 8 {} writes response", (49.9, 46.2)),
    "four drives, reads": ("striping {} reads response", (46.8, 40.0)),
    "four drives, writes": ("striping {} writes response", (65.7, 46.1)),
    "short stroke, reads": ("short stroke {} reads response", (15.9, 15.1)),
    "short stroke, writes": ("short stroke {} writes response", (14.6, 14.6)),
}
"""Improvements by each technique in Table 10, poor and rich."""

LEAST = -60
"""Per cent at which a bar is cut off; its value is written into it."""

YEARLY = {
    "seek": 3.08,
    "rpm": 5.41,
    "linear": 7.08,
    "track": 3.42,
    "areal": 9.31,
    "mechanical": 8.33,
    "all": 15.3,
}
"""Improvements by a year of each dimension in Table 11, rich."""


def draw(runs: Sequence[Figures], out: Path) -> list[Path]:
    """Draw the pictures into a folder, of the means of the runs; return the files."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    means = {name: sum(run[name] for run in runs) / len(runs) for name in runs[0]}
    files = []
    pictures = {"003-techniques": _techniques, "003-figures": _shapes, "003-years": _years}
    with plt.rc_context(plot_style.STYLE):
        for name, picture in pictures.items():
            figure = picture(plt, means)
            files.append(out / f"{name}.svg")
            plot_style.save(figure, files[-1])
            plt.close(figure)
    return files


def _techniques(plt: Any, means: Figures) -> Any:
    """Draw Table 10: the reduction of the response by each technique."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharey=True, layout="constrained")
    for at, (environment, axis) in enumerate(zip(("poor", "rich"), axes, strict=True)):
        ours = [means[name.format(environment)] for name, _ in SUMMARY.values()]
        printed = [values[at] for _, values in SUMMARY.values()]
        _bars(axis, list(SUMMARY), printed, ours)
        axis.set_title(f"resource-{environment}", loc="left")
        axis.set_xlabel("taken off the response, %")
        axis.set_xlim(LEAST if min(ours) < 0 else 0, 100)
        for place, value in enumerate(ours):
            if value < LEAST:
                axis.text(LEAST, place + 0.2, f" {value:.0f} %", va="center", size=9, color="white")
    axes[0].invert_yaxis()
    axes[0].legend(frameon=False)
    return figure


def _years(plt: Any, means: Figures) -> Any:
    """Draw Table 11, and Figure 26: a year's gain, and where time goes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    ours = [means[f"year {year} response"] for year in YEARS]
    _bars(left, list(YEARS), [YEARLY[year] for year in YEARS], ours)
    left.set_xlabel("a year's gain in response (rich), %")
    left.invert_yaxis()
    left.legend(frameon=False, loc="upper right")
    rows = {
        "read response": (
            "read part",
            ("seek", "rotation", "transfer", "overhead", "bus", "queue"),
        ),
        "write service": ("write part", ("seek", "rotation", "transfer")),
    }
    for row, (name, parts) in rows.items():
        start = 0.0
        for part, colour in zip(parts, plot_style.COLOURS, strict=False):
            share = means[f"{name} {part}"]
            label = part if row == "read response" else None
            right.barh(row, share, left=start, color=colour, label=label, height=0.5)
            start += share
    right.set_xlabel("where the time goes (rich), %")
    right.grid(visible=False)
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def _bars(axis: Any, names: Sequence[str], printed: Sequence[float], ours: Sequence[float]) -> None:
    places = range(len(names))
    axis.barh(
        [at - 0.2 for at in places], printed, 0.38, color=plot_style.COLOURS[0], label="printed"
    )
    axis.barh(
        [at + 0.2 for at in places], ours, 0.38, color=plot_style.COLOURS[1], label="simulated"
    )
    axis.set_yticks(list(places), names)
    axis.set_axisbelow(True)
    axis.grid(visible=False, axis="y")


def _shapes(plt: Any, means: Figures) -> Any:
    """Draw Figures 9, 12, 14 and 15."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    for each, colour, dash in zip(SWEPT, plot_style.COLOURS, plot_style.DASHES, strict=False):
        style = {"color": colour, "ls": dash, "marker": "o", "label": each}
        buffers = [means[f"{each} buffer {size}"] for size in BUFFERS]
        axes[0][0].plot([100 * size for size in BUFFERS], buffers, **style)
        marks = [means[f"{each} mark {mark} misses"] for mark in MARKS]
        axes[0][1].plot(MARKS, marks, **style)
        weights = [means[f"{each} variation {weight}"] for weight in WEIGHTS]
        axes[1][0].plot(WEIGHTS, weights, **style)
        units = [means[f"{each} unit {unit}"] for unit in UNITS_KB]
        axes[1][1].plot([unit / 1024 for unit in UNITS_KB], units, **style)
    titles = (
        ("write buffer, % of the storage", "off the write response, %"),
        ("high mark", "write misses"),
        ("age factor", "variation of the response"),
        ("stripe unit, MB", "read response, ms"),
    )
    for axis, (below, beside) in zip(axes.flat, titles, strict=True):
        axis.set_xlabel(below)
        axis.set_ylabel(beside)
    axes[1][0].set_xscale("symlog", linthresh=0.003)
    axes[1][0].set_xticks(WEIGHTS, [f"{weight:g}" for weight in WEIGHTS])
    axes[1][1].set_xscale("log")
    axes[1][1].set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes[0][0].legend(frameon=False)
    return figure
