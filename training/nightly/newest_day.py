"""The newest complete day of lives: models that have not seen it are tested on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.training.learn.train import Lives

QUARTER = 0.25
"""Share of the newest births that replaces a complete day if there is none."""

QUIET = timedelta(hours=1)
"""Longest quiet time at either end of a complete day."""

_TICK = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Period:
    """The time from `since` to before `before` (None: without end), and the date of its `day`."""

    since: datetime
    before: datetime | None = None
    day: str | None = None

    def split(self, lives: Lives) -> tuple[Lives, Lives]:
        """Return the lives that began before the period, and those that began in it."""
        return lives.born(before=self.since), lives.born(since=self.since, before=self.before)


def newest(lives: Lives, zone: str, after: datetime | None = None) -> Period | None:
    """Return the part `after` that time of the newest complete day of `lives` in `zone`.

    Without a complete day, or without earlier births, it is the newest quarter of the births, or
    its part `after` if that has any. None if the complete day has no births `after`.
    """
    if not len(lives.files):
        return None
    born, day = lives.files["born"], complete_day(lives, zone)
    if day is None or pc.min(born).as_py() >= _midnight(day, zone):
        return Period(_quarter(born, after))
    first, end = _midnight(day, zone), _midnight(day + _DAY, zone)
    since = first if after is None else max(first, after + _TICK)
    return Period(since, end, day.isoformat()) if since < end else None


def complete_day(lives: Lives, zone: str) -> date | None:
    """Return the newest day that the trace of `lives` covers entirely."""
    begin = pc.min(lives.files["born"]).as_py()
    end = pc.max(lives.files["observed_until"]).as_py()
    day = (end + QUIET).astimezone(ZoneInfo(zone)).date() - _DAY
    return day if begin <= _midnight(day, zone) + QUIET else None


def _midnight(day: date, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))


def _quarter(born: pa.ChunkedArray, after: datetime | None) -> datetime:
    microseconds = np.quantile(pc.cast(born, pa.int64()).to_numpy(), 1 - QUARTER, method="higher")
    quarter: datetime = pa.scalar(int(microseconds), born.type).as_py()
    if after is None:
        return quarter
    later = pc.min(born.filter(pc.greater(born, after))).as_py()
    return quarter if later is None else max(quarter, later)
