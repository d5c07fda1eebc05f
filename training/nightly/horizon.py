"""The end of the training window: the newest instant with enough births before it.

A trace from a host with a fast clock has times in the future. If they counted, the training window
would hold that trace alone, and later traces would be ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from birthmark.data.common.plurals import counted
from birthmark.training.nightly.intake import Dataset

AHEAD = timedelta(days=1)
"""Tolerated lead of a dataset over this host's clock."""


@dataclass(frozen=True)
class Horizon:
    """The `datasets` up to that instant, and the training `window` of them.

    Births from `since` on are used. `left_out` maps the names of datasets that end later to the
    reasons. `gap` describes a time without births before the window, at least as long.
    """

    datasets: list[Dataset]
    window: list[Dataset]
    since: datetime
    left_out: dict[str, str] = field(default_factory=dict)
    gap: str | None = None


def horizon(
    held: Sequence[Dataset], window_days: float, least: float, now: datetime
) -> Horizon | None:
    """Return the horizon of datasets ordered by their ends; None without datasets.

    It is the last end, not after `now`, whose `window_days` before it have at least the share
    `least` of the births of the fullest such window.
    """
    past = [each for each in held if each.until <= now + AHEAD]
    left_out = {
        each.path.name: f"ends at {each.until:%F %H:%M}, after this host's time"
        for each in held
        if each not in past
    }
    length = timedelta(days=window_days)
    births = sum((Counter(each.births) for each in past), Counter[date]())
    counts = [_born(births, each.until, length) for each in past]
    fullest = max(counts, default=0)
    while past and counts[-1] < least * fullest:
        each, count = past.pop(), counts.pop()
        left_out[each.path.name] = (
            f"{counted(count, 'births')} in the {window_days:g} days to {each.until:%F %H:%M},"
            f" where others have {fullest:,}"
        )
    if not past:
        return Horizon([], [], now, left_out) if left_out else None
    since = past[-1].until - length
    window = [each for each in past if each.until > since]
    return Horizon(past, window, since, left_out, _gap(past, since, window_days))


def learned_until(manifest: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return the end of a version's training data; None if it is after `now`.

    A version that learned from a trace with a wrong clock has seen no future day.
    """
    until = datetime.fromisoformat(manifest["trained_on"]["until"])
    return until if until <= now + AHEAD else None


def _born(births: Counter[date], until: datetime, length: timedelta) -> int:
    days = (until - length).date(), until.date()
    return sum(count for day, count in births.items() if days[0] <= day <= days[1])


def _gap(past: Sequence[Dataset], since: datetime, window_days: float) -> str | None:
    days = sorted({day for each in past for day in each.births if day <= past[-1].until.date()})
    within = [day for day in days if day >= since.date()]
    before = [day for day in days if day < since.date()]
    if not within or not before or (within[0] - before[-1]).days <= window_days:
        return None
    return (
        f"no births from {before[-1]} to {within[0]}, longer than the window of {window_days:g}"
        " days: earlier births are not used"
    )
