"""The picture of ``benchmarks.aging``: what models lose with their age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from birthmark.data.common import plot_style

TITLES = {"errors": "errors", "true_positives": "true positives within the bound"}


def draw(lines: Mapping[str, Sequence[Mapping[str, Any]]], out: Path) -> None:
    """Draw the differences to the youngest model by age, a line per history scope.

    ``lines`` are summaries (``benchmarks.aging.summary``) by scope; bars are two standard errors.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(plot_style.STYLE):
        figure, axes = plt.subplots(1, len(TITLES), figsize=(11, 4.5), layout="constrained")
        for (share, title), axis in zip(TITLES.items(), axes, strict=True):
            for index, (scope, own) in enumerate(lines.items()):
                more, error = zip(*(line["more"][share] for line in own), strict=True)
                axis.errorbar(
                    [place + index / 20 for place in range(len(own))],
                    [100 * value for value in more],
                    [200 * (value or 0) for value in error],
                    color=plot_style.COLOURS[index],
                    linestyle=plot_style.DASHES[index],
                    marker="o",
                    capsize=3,
                    label=f"history scope {scope}",
                )
            axis.set_xticks(range(len(own)), [age_in_words(line["age"]) for line in own])
            axis.axhline(0, color="black", lw=1, ls=":")
            axis.set_title(title, loc="left")
            axis.set_xlabel("age of the model")
        axes[0].set_ylabel("difference to the youngest model,\npoints of all births")
        axes[0].legend(frameon=False)
        plot_style.save(figure, out)
        plt.close(figure)


def age_in_words(days: int) -> str:
    """Return an age in the largest unit of which it is about one or more."""
    for unit, length in (("y", 365), ("mo", 30)):
        if days >= length:
            return f"{days / length:.0f} {unit}"
    return f"{days} d"
