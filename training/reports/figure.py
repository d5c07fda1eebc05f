"""All models of a test side by side in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.plot_style import COLOURS, FORMATS, STYLE, save

SHOWN = ("lock", "size>16k", "lifespan<=5", "amtime<=0", "write-only")
"""The predicates of files whose precision-recall curves are drawn, as many as there are."""

COLUMNS = 5
"""Panels side by side: those of `SHOWN`."""

_TITLE = 0.4  # inches
_SMALL: Any = {"font.size": 8, "lines.linewidth": 1.3, "axes.axisbelow": True}

Row = dict[str, Any]


def draw(evaluation: pa.Table, curves: pa.Table, out: str | Path, title: str = "") -> None:
    """Write the picture as SVG or PNG, atomically.

    The top row has a panel per model: true positives at the bound with intervals, before the
    observed frequency of each predicate; a broken bound is a cross. The middle row has its
    calibration, a line per predicate. The bottom row has precision over recall of all models, a
    panel for each of `SHOWN`. `evaluation` and `curves` are tables of `EVALUATION` and `CURVES`.

    Raises ValueError for another suffix, and OSError if it cannot be written.
    """
    path = Path(out)
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: expected a name that ends in {' or '.join(FORMATS)}")
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure

    rows = [row for row in evaluation.to_pylist() if row["point"] == "bounded"]
    points = curves.to_pylist()
    models = list(dict.fromkeys(row["model"] for row in rows))
    predicates = list(dict.fromkeys((row["subject"], row["predicate"]) for row in rows))
    with rc_context({**STYLE, **_SMALL}):
        heights = [0.19 * len(predicates) + 1.4, 2.8, 3.0]
        wide = max(2.2 * len(models) + 1.2, 9)
        figure = Figure(figsize=(wide, sum(heights) + _TITLE))
        parts: Any = figure.subfigures(4, 1, height_ratios=[_TITLE, *heights])
        _bounded(parts[1], rows, models, predicates)
        _calibration(parts[2], points, models)
        _precision(parts[3], points, models)
        _heading(parts[0], title or "All models", 11)
        save(figure, path, dpi=130)


def _heading(figure: Any, text: str, size: float = 9) -> None:
    """Write a heading above the panels of a subfigure, an eighth of an inch from its edges."""
    wide, high = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    figure.text(0.125 / wide, 1 - 0.125 / high, text, ha="left", va="top", fontsize=size)


def _panels(figure: Any, number: int, left: float = 0.6, right: float = 0.2) -> Any:
    """Return axes side by side in a subfigure, at `left` and `right` inches from its edges.

    Places are fixed, because a layout solver's last digits differ between drawings.
    """
    wide, high = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    places = {"left": left / wide, "right": 1 - right / wide}
    places |= {"bottom": 0.55 / high, "top": 1 - 0.6 / high, "wspace": 0.15}
    return np.atleast_1d(
        figure.subplots(1, max(number, 1), sharex=True, sharey=True, gridspec_kw=places)
    )


def _name(panels: Any, across: str, up: str = "") -> None:
    """Label the axes of panels side by side, which share their vertical axis."""
    for axes in panels:
        axes.set_xlabel(across)
    panels[0].set_ylabel(up)


def _bounded(
    figure: Any, rows: Sequence[Row], models: Sequence[str], predicates: Sequence[tuple[str, str]]
) -> None:
    bound = next((row["bound"] for row in rows), None)
    _heading(
        figure,
        f"true positives at the bound ({bound:g}% false positives), before the observed"
        " frequency; ×: the bound is shown broken"
        if bound is not None
        else "no bound",
    )
    longest = max((len(_label(*each)) for each in predicates), default=0)
    panels = _panels(figure, len(models), left=0.3 + 0.066 * longest)
    places = {predicate: -number for number, predicate in enumerate(predicates)}
    for axes, model in zip(panels, models, strict=False):
        axes.set_title(model)
        for row in rows:
            if row["model"] == model and row["n"]:
                _mark(axes, row, places[row["subject"], row["predicate"]])
        axes.set_xlim(0, 100)
        axes.grid(axis="y", visible=False)
    _name(panels, "% of all files")
    panels[0].set_yticks(list(places.values()), [_label(*each) for each in places])


def _mark(axes: Any, row: Row, y: float) -> None:
    axes.barh(y, row["occurs"], height=0.72, color="#e4e4e4", lw=0)
    x, low, high = (row[f"true_positives{end}"] for end in ("", "_low", "_high"))
    colour = COLOURS[1] if row["broken"] else COLOURS[0]
    if row["abstained"]:
        axes.plot(0.8, y, "|", color="#777777", ms=5, clip_on=False)
        return
    if low is not None:
        axes.plot([low, high], [y, y], color=colour, lw=1.1, solid_capstyle="butt")
    axes.plot(x, y, "x" if row["broken"] else "o", color=colour, ms=3.5, clip_on=False)


def _label(subject: str, predicate: str) -> str:
    return predicate if subject == "file" else f"{subject}: {predicate}"


def _calibration(figure: Any, points: Sequence[Row], models: Sequence[str]) -> None:
    _heading(figure, "calibration, a line per predicate of files")
    panels = _panels(figure, len(models))
    for axes, model in zip(panels, models, strict=False):
        axes.plot([0, 1], [0, 1], color="#999999", lw=0.8, ls="--")
        own = [p for p in points if p["model"] == model and p["curve"] == "calibration"]
        for predicate in dict.fromkeys(p["predicate"] for p in own if p["subject"] == "file"):
            line = [p for p in own if (p["subject"], p["predicate"]) == ("file", predicate)]
            x, y = ([p[axis] for p in line] for axis in ("x", "y"))
            axes.plot(x, y, color=COLOURS[0], alpha=0.45, lw=0.9, marker=".", ms=2.5)
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), aspect="equal", title=model)
    _name(panels, "mean score", "observed frequency")


def _precision(figure: Any, points: Sequence[Row], models: Sequence[str]) -> None:
    from birthmark.data.common.plot_style import DASHES

    _heading(figure, "precision over recall, files")
    own = [p for p in points if p["curve"] == "precision" and p["subject"] == "file"]
    there = list(dict.fromkeys(p["predicate"] for p in own))
    shown = ([p for p in SHOWN if p in there] or there)[:COLUMNS]
    panels = _panels(figure, len(shown), right=1.2)
    for axes, predicate in zip(panels, shown, strict=False):
        for number, model in enumerate(models):
            line = [p for p in own if (p["model"], p["predicate"]) == (model, predicate)]
            x, y = ([p[axis] for p in line] for axis in ("x", "y"))
            style = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
            colour = COLOURS[number % len(COLOURS)]
            # a step curve, as in scikit-learn: there is nothing between two thresholds
            axes.plot(x, y, color=colour, ls=style, label=model, drawstyle="steps-post")
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xticks=(0, 0.5, 1), title=predicate)
    _name(panels, "recall", "precision")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center right", frameon=False, handlelength=3)
