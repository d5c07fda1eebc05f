"""Up to when a night learns: the newest instant with enough births around it to be believed.

A trace whose monitor's clock was wrong says that it is later than it is. If that were believed the
window of training would hold that trace alone, and nothing that comes after it.
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
"""How far ahead of this host's clock a dataset may reach."""


@dataclass(frozen=True)
class Horizon:
    """The `datasets` up to that instant, and the `window` of them that a night learns from.

    Births from `since` on are learned. `left_out` maps the names of the datasets that reach beyond
    to the reasons why they do not say how late it is. `gap` tells of a time before the window, as
    long as that or longer, in which no file was born.
    """

    datasets: list[Dataset]
    window: list[Dataset]
    since: datetime
    left_out: dict[str, str] = field(default_factory=dict)
    gap: str | None = None


def horizon(
    held: Sequence[Dataset], window_days: float, least: float, now: datetime
) -> Horizon | None:
    """Return the horizon of datasets in the order of their ends; None where there are none.

    It is the last end, not after `now`, that has in the `window_days` before it at least a share of
    `least` of the births that the fullest such window has.
    """
    past = [each for each in held if each.until <= now + AHEAD]
    left_out = {
        each.path.name: f"reaches to {each.until:%F %H:%M}, after this host's clock"
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
    """Return until when a version learned; None where it says a time that is after `now`.

    A version that learned from a wrong clock's trace has seen no day that is still to come.
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
        " days: what was before is not learned from"
    )
