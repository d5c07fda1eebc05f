"""The map of the disk: how hot each part of it is, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.plot_style import COLOURS, save
from birthmark.data.generated import describe
from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.replay.conditions import DEFAULT
from birthmark.layout_hint.replay.region import Geometry
from birthmark.layout_hint.report import heat
from birthmark.layout_hint.report.kinds import words
from birthmark.layout_hint.report.picture import SMALL, place, write

_LEFT, _WIDE, _BETWEEN, _RIGHT = 0.75, 3.0, 0.3, 0.85
_HEAD, _MAP, _GAP, _ZOOM, _STEP = 1.05, 2.3, 0.5, 0.85, 4.35
_COLOURS = "viridis_r"  # hotter is darker, on white: the same in print and to any colour vision
_EDGE = COLOURS[1]
_KEY = (
    "Orange: the region, pointed at in each map and enlarged beneath it; the lines in it are where"
    " its group's inode table and its data begin."
)
_TITLES = {"writes": "Writes", "reads": "Reads"}


def draw(
    comparison: Comparison,
    day: str,
    state: str,
    mode: str | None,
    sizes: Geometry,
    out: Path,
) -> None:
    """Draw a day's map: a panel for Default and for each policy with counts.

    Writes are above, reads below: the whole partition, a row for each cylinder group; beneath it
    the region, a cell for each 4 KB block, with lines where its group's inode table and its data
    begin. Colours are logarithmic, and the same in a row of panels.
    """
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure

    panels = _panels(comparison, day, state, mode)
    wide = _LEFT + len(panels) * (_WIDE + _BETWEEN) - _BETWEEN + _RIGHT
    with rc_context(SMALL):
        figure = Figure(figsize=(wide, _HEAD + 2 * _STEP - 0.25))
        title = f"Where the disk was read and written, {day}"
        above = (title, words(comparison, (state, mode)), describe(comparison.generated))
        write(figure, 0.12, 0.1, "\n".join(filter(None, above)), fontsize=10)
        write(figure, 0.12, _HEAD - 0.38, _KEY, fontsize=7)
        for down, column in enumerate(_TITLES):
            _row(figure, comparison, panels, column, sizes, _HEAD + down * _STEP)
        save(figure, out)


def _panels(comparison: Comparison, day: str, state: str, mode: str | None) -> dict[str, pa.Table]:
    return {
        policy: counts
        for (of, policy, kept, fs), counts in comparison.heat.items()
        if (of, fs) == (day, state) and (policy == DEFAULT or kept == mode)
    }


def _row(
    figure: Any,
    comparison: Comparison,
    panels: dict[str, pa.Table],
    column: str,
    sizes: Geometry,
    top: float,
) -> None:
    """Draw the maps of reads or writes, and beneath them the region."""
    region = comparison.settings.places
    maps = [heat.groups(counts, column, sizes) for counts in panels.values()]
    zooms = [heat.blocks(counts, column, region) for counts in panels.values()]
    corner = heat.corner(*region[-1], sizes)
    groups = heat.shown(maps, corner.group)
    maps = [each[groups] for each in maps]
    for across, policy in enumerate(panels):
        left = _LEFT + across * (_WIDE + _BETWEEN)
        axes = place(figure, left, top, _WIDE, _MAP)
        image = _image(axes, maps[across], maps)
        axes.set_title(f"{_TITLES[column]}, {policy}", fontsize=9, loc="left", pad=4)
        _frame_map(axes, corner, groups, sizes, first=across == 0)
        below = place(figure, left, top + _MAP + _GAP, _WIDE, _ZOOM)
        zoomed = _image(below, zooms[across], zooms)
        _frame_zoom(below, heat.bounds(region, sizes), zooms[across], first=across == 0)
    left = _LEFT + len(panels) * (_WIDE + _BETWEEN) - _BETWEEN + 0.12
    _scale(figure, image, (left, top, 0.12, _MAP), f"{column} of each part")
    _scale(figure, zoomed, (left, top + _MAP + _GAP, 0.12, _ZOOM), "of each block")


def _image(axes: Any, grid: heat.Grid, beside: list[heat.Grid]) -> Any:
    from matplotlib.colors import LogNorm

    hottest = max(float(np.nanmax(each, initial=0)) for each in beside)
    shown = np.ma.masked_where(~(grid > 0), grid)
    return axes.imshow(
        shown,
        cmap=_COLOURS,
        norm=LogNorm(1, max(hottest, 10)),
        aspect="auto",
        interpolation="nearest",
        extent=(0, grid.shape[1], grid.shape[0], 0),
    )


def _frame_map(
    axes: Any, corner: heat.Corner, groups: heat.Groups, sizes: Geometry, first: bool
) -> None:
    from matplotlib.ticker import AutoLocator

    axes.grid(visible=False)
    row = int(np.searchsorted(groups, corner.group))
    # a box of the region's size would be a dot: a pointer from the left edge, and a bar above it
    bar = [corner.piece, corner.piece + max(corner.pieces, 3)]
    axes.plot(bar, [row, row], color=_EDGE, lw=2.5, solid_capstyle="butt", clip_on=False)
    axes.plot(-2, row + 0.5, marker=">", color=_EDGE, ms=5, clip_on=False)
    axes.set_xlim(0, heat.PIECES)
    megabytes = sizes.fpg * sizes.fsize / 2**20
    ticks = [tick for tick in AutoLocator().tick_values(0, megabytes) if 0 <= tick <= megabytes]
    axes.set_xticks([tick * heat.PIECES / megabytes for tick in ticks], [f"{t:g}" for t in ticks])
    rows = [int(at) for at in AutoLocator().tick_values(0, len(groups)) if at in range(len(groups))]
    axes.set_yticks([row + 0.5 for row in rows], [f"{groups[row]}" for row in rows])
    axes.tick_params(length=2)
    axes.tick_params(axis="y", pad=6)
    axes.set_xlabel("place in the group, MB", labelpad=1, fontsize=7)
    if first:
        axes.set_ylabel("cylinder group" if len(groups) == sizes.groups else "groups in use")
    else:
        axes.tick_params(labelleft=False)


def _frame_zoom(axes: Any, bounds: list[int], grid: heat.Grid, first: bool) -> None:
    axes.grid(visible=False)
    for bound in bounds:
        row, at = divmod(bound, heat.ZOOM_COLUMNS)
        x, y = [0, at, at, heat.ZOOM_COLUMNS], [row + 1, row + 1, row, row]
        axes.plot(x, y, color=_EDGE, lw=1.2)
    axes.set(xlim=(0, heat.ZOOM_COLUMNS), ylim=(grid.shape[0], 0))
    axes.set_xticks(range(0, heat.ZOOM_COLUMNS + 1, 16))
    axes.tick_params(length=2)
    axes.set_xlabel("the region's blocks of 4 KB, 64 in a row", labelpad=1, fontsize=7)
    for side in axes.spines.values():
        side.set(visible=True, color=_EDGE, lw=1.5)
    if first:
        axes.set_ylabel("row")
    else:
        axes.tick_params(labelleft=False)


def _scale(figure: Any, image: Any, at: tuple[float, float, float, float], words: str) -> None:
    bar = figure.colorbar(image, cax=place(figure, *at))
    bar.set_label(words, fontsize=7)
    bar.ax.tick_params(labelsize=7, length=2)
    bar.ax.minorticks_off()
    bar.outline.set_linewidth(0.5)
