"""The picture of ``benchmarks.control``: false positives around a noon at which programs change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.control_played import WINDOW, Played
from benchmarks.control_streams import ASKED
from birthmark.data.common import plot_style

SHOWN = {"static": "calibrated thresholds", "served": "with control"}
EVERY = 50
"""Births from one point of a line to the next."""


def draw(played: Sequence[Played], noon: int, bound: float, out: Path) -> None:
    """Draw the running share of false positives, with and without control.

    Lines are the median of all predicates, the areas above them reach to the ninth decile.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(plot_style.STYLE):
        figure, axes = plt.subplots(
            len(ASKED), 1, figsize=(9, 7), sharex=True, layout="constrained"
        )
        for scope, axis in zip(ASKED, axes, strict=True):
            own = [each for each in played if each.stream.row[1] == scope]
            for who, colour in zip(SHOWN, plot_style.COLOURS[1::-1], strict=True):
                births, shares = _running(own, who, noon)
                middle, high = np.quantile(shares, (0.5, 0.9), axis=0)
                axis.fill_between(births, middle, high, color=colour, alpha=0.25, lw=0)
                axis.plot(births, middle, color=colour, label=SHOWN[who])
            axis.axhline(100 * bound, color="black", lw=1, ls=":")
            axis.axvline(0, color="grey", lw=1)
            axis.set_title(f"history scope {scope}", loc="left")
            axis.set_ylabel("false positives, %")
        axes[0].legend(frameon=False)
        axes[-1].set_xlabel("births after noon")
        plot_style.save(figure, out)
        plt.close(figure)


def _running(played: Sequence[Played], who: str, noon: int) -> tuple[Any, Any]:
    """Return births after noon, and each predicate's share in the ``WINDOW`` births before each."""
    firsts = [int(np.searchsorted(each.stream.born, noon)) for each in played]
    before = min(firsts)
    after = min(len(e.stream.born) - first for e, first in zip(played, firsts, strict=True))
    shares = [
        np.convolve(each.wrong(who)[first - before : first + after], np.ones(WINDOW), "valid")
        for each, first in zip(played, firsts, strict=True)
    ]
    births = np.arange(WINDOW - before, after + 1)
    return births[::EVERY], 100 / WINDOW * np.array(shares)[:, ::EVERY]
