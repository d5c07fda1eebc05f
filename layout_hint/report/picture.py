"""What the pictures have in common: style, places in inches, files that appear whole."""

from __future__ import annotations

from typing import Any

from birthmark.data.common.plot_style import STYLE

SMALL: Any = {**STYLE, "font.size": 8, "lines.linewidth": 1.3, "axes.axisbelow": True}
"""For several panels side by side; the same picture is the same bytes."""


def place(figure: Any, left: float, top: float, wide: float, high: float, **more: Any) -> Any:
    """Return axes so many inches from a figure's left and top edges, and so large.

    Places are said, not solved for: a solver's last digits differ from one drawing to the next.
    """
    across, down = figure.get_size_inches()
    box = (left / across, 1 - (top + high) / down, wide / across, high / down)
    return figure.add_axes(box, **more)


def write(figure: Any, left: float, top: float, text: str, **more: Any) -> None:
    """Write so many inches from a figure's left and top edges."""
    across, down = figure.get_size_inches()
    style = {"ha": "left", "va": "top", "fontsize": 9} | more
    figure.text(left / across, 1 - top / down, text, **style)
