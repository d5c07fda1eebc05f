"""Charts: writes in the region against the optimum, and gains in elapsed time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from birthmark.data.common.plot_style import COLOURS, save
from birthmark.data.generated import describe
from birthmark.layout_hint.comparison.figures import Comparison, Spread
from birthmark.layout_hint.report import elapsed as gains
from birthmark.layout_hint.report import thesis
from birthmark.layout_hint.report.kinds import policies, words
from birthmark.layout_hint.report.picture import SMALL, place, write

_LEFT, _WIDE, _ROW, _HEAD, _BETWEEN, _FOOT = 1.3, 2.1, 0.24, 0.6, 0.78, 0.38
_HOLLOW: Any = {
    "marker": "D",
    "ms": 4.5,
    "mfc": "white",
    "clip_on": False,
    "color": COLOURS[0],
    "ls": "none",
}
_OPTIMAL: Any = {"marker": "|", "ms": 13, "mew": 2, "color": COLOURS[1], "ls": "none"}
_MEAN: Any = {"marker": "o", "ms": 4, "color": "black", "ls": "none"}

Panel = Callable[[Any, str, str | None], None]


def locality(comparison: Comparison, state: str, out: Path) -> None:
    """Draw the share of the writes in the region, for each policy, day and mode.

    A bar is the mean over the seeds, its line a standard deviation each way; the upright mark is
    the optimum, and a diamond the thesis's figure, where it has one.
    """
    rows = policies(comparison)

    def panel(axes: Any, day: str, mode: str | None) -> None:
        for y, policy in enumerate(rows):
            if found := comparison.find(day, policy, mode, state):
                axes.barh(y, 100 * found.target.write.mean, height=0.66, color=COLOURS[5], lw=0)
                _whisker(axes, y, found.target.write)
                axes.plot(100 * found.optimal.write.mean, y, **_OPTIMAL)
            published = thesis.locality(comparison.title, day, policy)
            if published and state == "fresh":
                axes.plot(100 * published.target[2], y, **_HOLLOW)
        axes.set_xlim(left=0)

    beside = any(
        thesis.locality(comparison.title, day, each) for day in comparison.days for each in rows
    )
    key = {"optimal": _OPTIMAL} | _published(beside, state)
    _draw(comparison, state, out, rows, panel, "Writes in the region, percent of all writes", key)


def elapsed(comparison: Comparison, state: str, out: Path) -> None:
    """Draw how much of Default's elapsed time each policy saved, by day and mode.

    A dot is the mean over the seeds, its line a standard deviation each way; a diamond is the
    thesis's figure, where it has one.
    """
    columns = gains.columns(comparison)

    def panel(axes: Any, day: str, mode: str | None) -> None:
        axes.axvline(0, color="#777777", lw=1)
        for y, (column, of) in enumerate(columns.items()):
            published = thesis.improvement(comparison.title, day, column)
            if published is not None and state == "fresh":
                axes.plot(100 * published, y, **_HOLLOW)
            if found := gains.result(comparison, day, of, (state, mode)):
                _whisker(axes, y, found.improvement)
                axes.plot(100 * found.improvement.mean, y, **_MEAN)

    title = "Gain in elapsed time over Default, percent"
    days = comparison.days
    found = [thesis.improvement(comparison.title, day, each) for day in days for each in columns]
    key = {"mean": _MEAN} | _published(any(each is not None for each in found), state)
    _draw(comparison, state, out, list(columns), panel, title, key)


def _published(beside: bool, state: str) -> dict[str, Any]:
    """Return the key of the thesis's figures, if any are drawn."""
    return {"thesis": _HOLLOW} if beside and state == "fresh" else {}


def _whisker(axes: Any, y: int, of: Spread) -> None:
    if of.deviation is not None:
        ends = [100 * (of.mean - of.deviation), 100 * (of.mean + of.deviation)]
        axes.plot(ends, [y, y], color="black", lw=1, solid_capstyle="butt")


def _draw(
    comparison: Comparison,
    state: str,
    out: Path,
    rows: Sequence[str],
    panel: Panel,
    title: str,
    key: dict[str, Any],
) -> None:
    """Draw a panel for every mode (downwards) and day (to the right), all on the same axes."""
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure

    modes: Sequence[str | None] = comparison.modes or (None,)
    high = _ROW * max(len(rows), 1)
    step = high + _BETWEEN
    with rc_context(SMALL):
        wide = max(_LEFT + (_WIDE + 0.25) * len(comparison.days) + 0.15, 6.0)
        figure = Figure(figsize=(wide, _HEAD + step * len(modes) + _FOOT))
        above = "\n".join(filter(None, (title, describe(comparison.generated))))
        write(figure, 0.12, 0.1, above, fontsize=10)
        shared = None
        for down, mode in enumerate(modes):
            top = _HEAD + down * step + 0.4
            write(figure, 0.12, top - 0.38, words(comparison, (state, mode)))
            for across, day in enumerate(comparison.days):
                left = _LEFT + across * (_WIDE + 0.25)
                axes = place(figure, left, top, _WIDE, high, sharex=shared)
                shared = shared or axes
                _frame(axes, rows if across == 0 else [""] * len(rows), day)
                panel(axes, day, mode)
        _key(figure, key)
        save(figure, out)


def _frame(axes: Any, rows: Sequence[str], day: str) -> None:
    axes.set_title(day, fontsize=8, loc="left", pad=3)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows)
    axes.grid(axis="y", visible=False)


def _key(figure: Any, key: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], **style) for style in key.values()]
    across, down = figure.get_size_inches()
    figure.legend(
        marks, list(key), loc="lower left", bbox_to_anchor=(_LEFT / across, 0.04 / down),
        ncols=len(key), frameon=False, borderaxespad=0, handletextpad=0.4,
    )  # fmt: skip
