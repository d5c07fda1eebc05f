"""The load of a workload over time: operations by the hour, and generation windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from birthmark.data.common.durations import DAY
from birthmark.research.workloads.profile import MIX, Hours, Profile

PEAK = range(9, 18)
"""The peak hours, Monday to Friday (Table 4.2)."""

WINDOW_OPERATIONS = 60_000
"""The approximate maximum of operations in progress at once."""

_PEAK_HOURS, _ALL_HOURS = 10 * len(PEAK), 14 * 24  # of the two weeks of Table 4.1
_SECONDS = (3600, 1800, 900, 600, 300, 120, 60, 30, 20, 10, 5, 2, 1)


@dataclass(frozen=True)
class Window:
    """A stretch of time, and its expected operations by name, `other` among them."""

    index: int
    start: int  # microseconds since the epoch
    end: int
    operations: dict[str, float]


def shares(hours: Hours) -> dict[str, float]:
    """Return each operation's part of 1; `other` is everything outside the tables."""
    listed = {op: getattr(hours, op) / 100 for op in MIX}
    return listed | {"other": 1 - sum(listed.values())}


def off_peak(profile: Profile) -> tuple[float, dict[str, float]]:
    """Return operations an hour, and the shares, outside the peak hours.

    They are the difference between all hours of two weeks (Table 4.1) and their peak hours (Table
    4.2).
    """
    total = profile.all.total * _ALL_HOURS - profile.peak.total * _PEAK_HOURS
    every, peak = shares(profile.all), shares(profile.peak)
    rest = {
        op: every[op] * profile.all.total * _ALL_HOURS - peak[op] * profile.peak.total * _PEAK_HOURS
        for op in every
    }
    return 1000 * total / (_ALL_HOURS - _PEAK_HOURS), {op: n / total for op, n in rest.items()}


class Clock:
    """Computes the expected load of every hour.

    An hour's load is its weight in the profile, scaled so that the peak hours of two weeks, and
    the others, have the means of Tables 4.1 and 4.2, times `rate`.
    """

    def __init__(self, profile: Profile, rate: float) -> None:
        self._profile, self._rate = profile, rate
        load = profile.load
        self._off_total, self._off_shares = off_peak(profile)
        self._peak_shares = shares(profile.peak)
        others = [load.weekday[hour] for hour in range(24) if hour not in PEAK] * 10
        self._off_mean = float(np.mean(others + load.weekend * 4))
        self._peak_mean = float(np.mean([load.weekday[hour] for hour in PEAK]))
        most = max(self.hourly(weekday, hour)[0] for weekday in (0, 5) for hour in range(24))
        fits = (s for s in _SECONDS if most * s / 3600 <= WINDOW_OPERATIONS)
        self.seconds = next(fits, _SECONDS[-1])

    def hourly(self, weekday: int, hour: int) -> tuple[float, dict[str, float]]:
        """Return the mean operations of an hour (weekday 0: Monday), and their shares."""
        load, profile = self._profile.load, self._profile
        if weekday < 5 and hour in PEAK:
            total = 1000 * profile.peak.total * load.weekday[hour] / self._peak_mean
            return total * self._rate, self._peak_shares
        weight = (load.weekday if weekday < 5 else load.weekend)[hour]
        return self._off_total * weight / self._off_mean * self._rate, self._off_shares

    def windows(self, start: date, days: float, seed: list[int]) -> Iterator[Window]:
        """Yield the windows of ``days`` days; the last is cut at their end."""
        first = datetime(start.year, start.month, start.day, tzinfo=UTC)
        epoch = round(first.timestamp()) * 1_000_000
        end = epoch + round(days * DAY)
        step = self.seconds * 1_000_000
        for index, begin in enumerate(range(epoch, end, step)):
            elapsed = timedelta(microseconds=begin - epoch)
            now = first + elapsed
            total, mix = self.hourly(now.weekday(), now.hour)
            total *= self._weather(seed, elapsed // timedelta(hours=1)) * self.seconds / 3600
            until = min(begin + step, end)
            total *= (until - begin) / step
            yield Window(index, begin, until, {op: total * part for op, part in mix.items()})

    def _weather(self, seed: list[int], hour: int) -> float:
        """Return the factor by which one hour differs from its mean: log-normal, of mean 1."""
        spread = np.sqrt(np.log1p(self._profile.load.variation**2))
        drawn = np.random.default_rng([*seed, 1, hour]).standard_normal()
        return float(np.exp(spread * drawn - spread**2 / 2))
