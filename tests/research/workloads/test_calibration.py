"""The calibration: small samples of the full measurement in ``benchmarks/workloads.py``."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data import lives
from birthmark.predictor import FILE_PREDICATES, births
from birthmark.research.workloads import WORKLOADS, Workload, generate
from birthmark.research.workloads.profile import MIX, read_profile

RATES = {"campus": 0.02, "deas03": 0.02, "eecs03": 0.06}

OCCURS = {  # thesis Tables 6.5, 6.6 and 6.7
    "lock": (81.87, 51.60, 26.53),
    "size=zero": (94.62, 59.33, 26.66),
    "0<size<=16k": (4.69, 34.91, 63.45),
    "size>16k": (0.69, 5.76, 9.89),
    "amtime<=0": (4.43, 34.00, 60.35),
    "amtime>0": (0.68, 6.51, 12.99),
    "lifespan<=1": (76.38, 67.75, 62.70),
    "lifespan<=30": (86.79, 78.63, 66.29),
    "write-only": (2.60, 36.62, 59.38),
}


@pytest.fixture(scope="module", params=WORKLOADS)
def day(request):
    """A Monday until the end of its peak hours."""
    profile = read_profile(request.param)
    workload = Workload(request.param, 3, profile.start, 0.75, RATES[request.param])
    return profile, WORKLOADS.index(request.param), list(generate(workload))


def test_the_mix_of_the_peak_hours_is_that_of_table_4_2(day):
    profile, _, batches = day
    made = pa.Table.from_batches(batches).select(["time", "op"])
    hours = pc.hour(made["time"]).to_numpy()
    peak = pa.array((hours >= 9) & (hours < 18))
    ops = Counter(made["op"].cast(pa.utf8()).filter(peak).to_pylist())
    for op in MIX:
        share = getattr(profile.peak, op) / 100
        # three standard deviations of so small a sample, in addition to the allowed tenth
        noise = 3 * np.sqrt(share / ops.total())
        assert abs(ops[op] / ops.total() - share) < 0.05 * share + noise, op


def test_predicates_hold_as_often_as_in_tables_6_5_to_6_7(day):
    _, column, batches = day
    files = births(lives.tables(batches)[0])
    for name, occurs in OCCURS.items():
        answers = FILE_PREDICATES[name].evaluate(files)
        share = answers.true_count / (len(answers) - answers.null_count)
        noise = 3 * np.sqrt(share * (1 - share) / len(files))
        assert abs(100 * share - occurs[column]) < 2.5 + 100 * noise, name


def test_bytes_are_read_and_written_about_as_in_table_4_2(day):
    ratios = {"CAMPUS": 2.43, "DEAS03": 4.47, "EECS03": 2.67}
    profile, _, batches = day
    made = pa.Table.from_batches(batches).select(["op", "reply_count"])
    counts = made.filter(made["reply_count"].is_valid())
    moved = counts.group_by("op").aggregate([("reply_count", "sum")]).to_pylist()
    read, written = (
        next(row["reply_count_sum"] for row in moved if row["op"] == op) for op in ("read", "write")
    )
    assert read / written == pytest.approx(ratios[profile.title], rel=0.25)
