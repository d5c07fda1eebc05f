"""Helpers for pictures: style, positions in inches, atomic files."""

from __future__ import annotations

from typing import Any

from birthmark.data.common.plot_style import STYLE

SMALL: Any = {**STYLE, "font.size": 8, "lines.linewidth": 1.3, "axes.axisbelow": True}
"""Style for several panels side by side; pictures are reproducible byte by byte."""


def place(figure: Any, left: float, top: float, wide: float, high: float, **more: Any) -> Any:
    """Return axes at a distance in inches from a figure's left and top edges, with a size.

    Positions are fixed, because a layout solver's last digits differ between drawings.
    """
    across, down = figure.get_size_inches()
    box = (left / across, 1 - (top + high) / down, wide / across, high / down)
    return figure.add_axes(box, **more)


def write(figure: Any, left: float, top: float, text: str, **more: Any) -> None:
    """Write text at a distance in inches from a figure's left and top edges."""
    across, down = figure.get_size_inches()
    style = {"ha": "left", "va": "top", "fontsize": 9} | more
    figure.text(left / across, 1 - top / down, text, **style)
