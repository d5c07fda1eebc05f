"""The style of plots: the same colours, dashes and fonts, and reproducible bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from birthmark.data.common.durable import output

FORMATS = (".svg", ".png")
"""The suffixes of files that a plot may be written to."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Distinct for readers of any colour vision (Okabe and Ito), and in print by their dashes."""

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1)),
    "-.",
    (0, (7, 1.5, 1.5, 1.5, 1.5, 1.5)),
    "--",
    ":",
)

STYLE: Any = {
    "svg.hashsalt": "birthmark",  # the same plot is the same bytes
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "text.parse_math": False,  # a name between dollars is a name
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "lines.linewidth": 1.8,
}


def save(figure: Any, out: Path, dpi: int = 150) -> None:
    """Write a figure of matplotlib as SVG or PNG, by the file's suffix, atomically."""
    kind = out.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {}
    with output(out) as temporary:
        figure.savefig(temporary, format=kind, dpi=dpi, metadata=metadata)
