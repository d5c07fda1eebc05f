"""Values over time for a plot of counts, one series for each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import DAY
from birthmark.data.common.sums import summed
from birthmark.data.generated import Mark
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.merge import tops
from birthmark.data.settings import Measure, Plot

MEASURES: dict[Measure, str] = {
    "ops": "operations per second",
    "read": "MB read per second",
    "written": "MB written per second",
    "errors": "errors per second",
    "latency": "mean latency, ms",
}
"""The measures, and the labels of their axis."""

_COLUMNS: dict[Measure, str] = {
    "ops": "ops",
    "read": "bytes_read",
    "written": "bytes_written",
    "errors": "errors",
    "latency": "latency_sum",
}
_DEFAULTS = Plot()
_LONGEST = 1_000_000  # periods: a plot is only some thousand points wide


@dataclass
class Series:
    """One line.

    Attributes:
        label: the key's value.
        starts: when its periods begin, µs; of an overlay, from the beginning of the day.
        values: in the measure's unit; NaN where there is none.
    """

    label: str
    starts: np.ndarray
    values: np.ndarray


@dataclass
class Plotted:
    """The contents of a plot.

    Attributes:
        series: its lines.
        period: the length of the periods, µs.
        measure: one of :data:`MEASURES`.
        over: the length of the stretches of an overlay, µs; None if the whole is shown.
        generated: the marks of generated data (`data.generated`); empty if all is real.
    """

    series: list[Series]
    period: int
    measure: Measure
    over: int | None = None
    generated: list[Mark] = field(default_factory=list)


def over_time(
    table: CountsTable,
    measure: Measure = _DEFAULTS.measure,
    by: str | None = _DEFAULTS.by,
    most: int = _DEFAULTS.lines,
) -> Plotted:
    """Return the values of each period: in total, or of the ``most`` busiest by a key or ``op``.

    The others are summed in a last line, except directories, which contain each other. A period
    without operations counts as 0, and has no latency.

    Raises:
        ValueError: the table has no such key, or no rows, or very many periods.
    """
    if by is not None and by != "op":
        table.need([by])
    period = table.period()
    sums = _sums(table, measure, by)
    if not len(sums):
        raise ValueError(f"{table.path}: has no rows, so there is nothing to show")
    times = sums["time"].to_numpy()
    first, last = int(times.min()), int(times.max())
    count = (last - first) // period + 1
    if count > _LONGEST:
        raise ValueError(
            f"{table.path}: spans {count:,} periods: expected at most {_LONGEST:,}; make them "
            "longer with birthmark scan agg --period"
        )
    starts = first + period * np.arange(count)
    names = _busiest(sums, by, most)
    series = []
    for name in names:
        chosen = sums.filter(pc.is_in(sums["key"], pa.array(names[name], pa.utf8())))
        series.append(Series(name, starts, _values(chosen, starts, period, measure)))
    return Plotted(series, period, measure, generated=table.generated)


def overlaid(whole: Plotted, over: int, zone: tzinfo = UTC) -> Plotted:
    """Cut a plot's only line into periods, such as days, and draw them over each other.

    Args:
        whole: one line over the whole time.
        over: the length of a period, µs, counted from midnight.
        zone: the time zone of midnight.

    Raises:
        ValueError: there are several lines.
    """
    if len(whole.series) != 1:
        raise ValueError(
            "an overlay has a line for each day: show one line, with birthmark scan split and "
            "without --by"
        )
    (line,) = whole.series
    local = line.starts + np.array([_offset(int(start), zone) for start in line.starts])
    stretches = local // over
    series = []
    for stretch in np.unique(stretches):
        chosen = stretches == stretch
        starts = local[chosen] - stretch * over
        order = np.argsort(starts, kind="stable")  # an hour is repeated when clocks are set back
        label = _stretch(int(stretch), over)
        series.append(Series(label, starts[order], line.values[chosen][order]))
    return replace(whole, series=series, over=over)


def _offset(micros: int, zone: tzinfo) -> int:
    offset = datetime.fromtimestamp(micros / 1e6, UTC).astimezone(zone).utcoffset()
    return round((offset or timedelta()).total_seconds() * 1e6)


def _stretch(number: int, over: int) -> str:
    if over == DAY:
        return (date(1970, 1, 1) + timedelta(days=number)).strftime("%a %Y-%m-%d")
    begin = datetime(1970, 1, 1) + timedelta(microseconds=number * over)
    return begin.strftime("from %H:%M:%S" if over < DAY else "from %Y-%m-%d")


def _sums(table: CountsTable, measure: Measure, by: str | None) -> pa.Table:
    """Return sums by period and key: the measure's, and the answered operations."""
    keys = [by] if by not in (None, "op") else []
    parts = []
    for batch in table.batches():
        rows = tops(batch, keys)
        key = pc.fill_null(rows[by].cast(pa.utf8()), "none") if by else pa.array([""] * len(rows))
        part = pa.table(
            {
                "time": rows["time"].cast(pa.int64()),
                "key": key,
                "value": rows[_COLUMNS[measure]].cast(pa.float64()),
                "ops": rows["ops"].cast(pa.float64()),
                "answered": pc.subtract(rows["ops"], rows["unanswered"]).cast(pa.float64()),
            }
        )
        parts.append(_added(part))
    return _added(pa.concat_tables(parts)) if parts else pa.table({"time": []})


def _added(rows: pa.Table) -> pa.Table:
    return summed(rows, ["time", "key"], ["value", "ops", "answered"])


def _busiest(sums: pa.Table, by: str | None, most: int) -> dict[str, list[str]]:
    """Return the values of the key behind each line, by its label."""
    if by is None:
        return {"all": [""]}
    order = summed(sums, ["key"], ["ops"])
    keys = order.sort_by([("ops", "descending"), ("key", "ascending")])["key"].to_pylist()
    most += len(keys) == most + 1  # a single other value gets its own line
    shown = {f"{by} {key}" if by in ("uid", "gid") else key: [key] for key in keys[:most]}
    if keys[most:] and by != "directory":
        shown[f"{len(keys) - most:,} others"] = keys[most:]
    return shown


def _values(
    rows: pa.Table, starts: Sequence[int] | np.ndarray, period: int, measure: str
) -> np.ndarray:
    """Return the measure of each period."""
    places = (rows["time"].to_numpy() - starts[0]) // period
    sums = np.bincount(places, rows["value"].to_numpy(), len(starts))
    if measure == "latency":
        answered = np.bincount(places, rows["answered"].to_numpy(), len(starts))
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / (1e3 * answered))  # 0 / 0 is NaN: no latency
    scale = 1e6 if measure in ("read", "written") else 1
    return np.asarray(sums / scale / (period / 1e6))
