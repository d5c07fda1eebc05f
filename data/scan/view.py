"""Plots of counts over time: the function of ``ns_quickview`` (thesis 3.6.3), with the key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import numpy as np

from birthmark.data.common.durations import DAY
from birthmark.data.common.plot_style import COLOURS, DASHES, FORMATS, STYLE, save
from birthmark.data.common.visible import visible
from birthmark.data.generated import describe
from birthmark.data.scan.series import MEASURES, Plotted, Series


def draw(plotted: Plotted, out: str | Path, title: str = "", zone: tzinfo = UTC) -> None:
    """Write a plot as SVG or PNG, whole or not at all.

    Args:
        plotted: the contents.
        out: a file with one of the suffixes :data:`FORMATS`.
        title: text above the plot, and above the marks of generated data.
        zone: the time zone of the axis.

    Raises:
        ValueError: the suffix is another.
        OSError: the file cannot be written.
    """
    path = Path(out)
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: expected a name that ends in {' or '.join(FORMATS)}")
    from matplotlib import rc_context  # slow to import
    from matplotlib.figure import Figure
    from matplotlib.ticker import StrMethodFormatter

    with rc_context(STYLE):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for number, line in enumerate(plotted.series):
            x, y = _steps(line, plotted, zone)
            dashes = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
            axes.plot(
                x, y, label=visible(line.label), color=COLOURS[number % len(COLOURS)], ls=dashes
            )
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.set_ylabel(f"{MEASURES[plotted.measure]}\nin periods of {_length(plotted.period)}")
        _time_axis(axes, plotted, zone)
        if above := "\n".join(filter(None, (title, describe(plotted.generated)))):
            axes.set_title(above, loc="left", fontsize=13)
        if len(plotted.series) > 1:
            figure.legend(
                loc="outside lower center",
                ncols=_columns([line.label for line in plotted.series]),
                frameon=False,
                handlelength=3,
            )
        save(figure, path)


def _steps(line: Series, plotted: Plotted, zone: tzinfo) -> tuple[Any, np.ndarray]:
    """Return a line that is level during each period, with gaps for missing periods."""
    starts, values = line.starts, line.values
    ends = starts + plotted.period
    gaps = np.flatnonzero(starts[1:] > ends[:-1]) + 1
    x = np.insert(np.stack([starts, ends], 1).ravel(), 2 * gaps, ends[gaps - 1])
    y = np.insert(np.repeat(values, 2), 2 * gaps, np.nan)
    if plotted.over is not None:
        return x / _unit(plotted.over)[0], y
    return [datetime.fromtimestamp(each / 1e6, UTC).astimezone(zone) for each in x], y


def _time_axis(axes: Any, plotted: Plotted, zone: tzinfo) -> None:
    import matplotlib.dates
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    dates: Any = matplotlib.dates
    if plotted.over is not None:
        unit, word = _unit(plotted.over)
        length = plotted.over / unit
        axes.set_xlim(0, length)
        if plotted.over == DAY:
            axes.xaxis.set_major_locator(MultipleLocator(3))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda hour, _: f"{hour:02.0f}:00"))
            axes.set_xlabel(f"time of day ({zone})")
        else:
            axes.set_xlabel(f"{word} from the beginning of each line")
        return
    starts = plotted.series[0].starts
    first, last = (
        datetime.fromtimestamp(int(at) / 1e6, UTC).astimezone(zone)
        for at in (starts[0], starts[-1] + plotted.period)
    )
    span = last - first
    one_day = first.date() == last.date()
    words = (
        "%H:%M:%S" if span < timedelta(minutes=10) else "%H:%M" if one_day else "%a %d %b\n%H:%M"
    )
    if span > timedelta(days=4):
        words = "%a %d %b"
    axes.xaxis.set_major_locator(dates.AutoDateLocator(minticks=4, maxticks=8, tz=zone))
    axes.xaxis.set_major_formatter(dates.DateFormatter(words, tz=zone))
    days = f"{first:%Y-%m-%d}" if one_day else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    axes.set_xlabel(f"time ({zone}), {days}")


def _columns(labels: list[str]) -> int:
    """Return how many labels fit in a row."""
    fit = max(1, 84 // (10 + max(map(len, labels))))
    rows = -(-len(labels) // fit)
    return -(-len(labels) // rows)


def _unit(micros: int) -> tuple[float, str]:
    """Return the µs and the name of the unit for a length."""
    for unit, word in ((3.6e9, "hours"), (6e7, "minutes")):
        if micros >= 2 * unit:
            return unit, word
    return 1e6, "seconds"


def _length(micros: int) -> str:
    """Return a length in words."""
    for unit, word in ((86_400e6, "d"), (3600e6, "h"), (60e6, "min")):
        if micros >= unit and micros % unit == 0:
            return f"{micros / unit:g} {word}"
    return f"{micros / 1e6:g} s"
