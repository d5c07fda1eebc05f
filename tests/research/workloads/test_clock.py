"""The load of Tables 4.1 and 4.2, hour by hour."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import numpy as np
import pytest

from birthmark.research.workloads import WORKLOADS
from birthmark.research.workloads.clock import PEAK, Clock, shares
from birthmark.research.workloads.profile import read_profile

TWO_WEEKS = [(day % 7, hour) for day in range(14) for hour in range(24)]


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_hours_of_two_weeks_have_the_means_of_tables_4_1_and_4_2(name):
    profile = read_profile(name)
    clock = Clock(profile, rate=0.5)
    hours = {place: clock.hourly(*place) for place in TWO_WEEKS}
    peak = [hours[day, hour] for day, hour in TWO_WEEKS if day < 5 and hour in PEAK]
    every = [hours[place] for place in TWO_WEEKS]
    for expected, found in ((profile.peak, peak), (profile.all, every)):
        totals = np.array([total for total, _ in found])
        assert totals.mean() == pytest.approx(500 * expected.total)
        for op, share in shares(expected).items():
            done = sum(total * mix[op] for total, mix in found)
            assert done / totals.sum() == pytest.approx(share)


def test_windows_cover_the_days_and_no_more():
    clock = Clock(read_profile("campus"), rate=1)
    windows = list(clock.windows(date(2001, 10, 22), 0.5, [1]))
    assert windows[0].start == 1_003_708_800_000_000  # midnight UTC
    assert windows[-1].end - windows[0].start == 43_200_000_000
    assert all(one.end == after.start for one, after in pairwise(windows))


def test_the_operations_of_a_window_are_bounded_at_any_rate():
    for rate in (0.001, 1, 20):
        clock = Clock(read_profile("campus"), rate)
        windows = clock.windows(date(2001, 10, 22), 0.5, [1])
        assert max(sum(window.operations.values()) for window in windows) < 80_000
