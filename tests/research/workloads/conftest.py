from __future__ import annotations

import pytest

from birthmark.research.workloads import WORKLOADS, Workload

MONDAYS = {"campus": "2001-10-22", "deas03": "2003-02-24", "eecs03": "2003-02-24"}
RATES = {"campus": 0.01, "deas03": 0.03, "eecs03": 0.05}


@pytest.fixture(params=WORKLOADS)
def workload(request) -> Workload:
    """An hour and a half of each workload, at a low rate."""
    name = request.param
    return Workload(name, seed=5, start=MONDAYS[name], days=0.0625, rate=RATES[name])
