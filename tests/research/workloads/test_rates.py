from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.data.generated import in_metadata
from birthmark.data.samples import DAYS
from birthmark.research.workloads import Workload
from birthmark.research.workloads.output import write
from birthmark.research.workloads.rates import at_rate

WANTED = Workload("deas03", 3, "2003-02-03", days=0.005, rate=0.01)


@pytest.mark.parametrize("form", ["operations", "text"])
def test_a_workload_is_that_of_its_seed_and_start_at_another_rate(
    form: str, tmp_path: Path
) -> None:
    write(WANTED, tmp_path / "trace", form)
    (made,) = at_rate([tmp_path / "trace"], 0.02, tmp_path / "regenerated")
    table = pq.read_table(made)
    assert in_metadata(table.schema) == WANTED.to_json() | {"rate": 0.02}
    before = made.stat()
    assert at_rate([tmp_path / "trace"], 0.02, tmp_path / "regenerated") == [made]
    assert made.stat().st_mtime_ns == before.st_mtime_ns
    (same,) = at_rate([tmp_path / "trace"], WANTED.rate, tmp_path / "regenerated")
    write(WANTED, tmp_path / "as.parquet")
    assert pq.read_table(same).equals(pq.read_table(tmp_path / "as.parquet"))
    assert len(table) > pq.read_metadata(same).num_rows


def test_refuses_a_trace_without_its_workload_by_name(tmp_path: Path) -> None:
    write(WANTED, tmp_path / "trace.pcap")  # it has room for no more than name and seed
    for trace in (DAYS[0], tmp_path / "trace.pcap", tmp_path):
        with pytest.raises(ValueError, match=f"^{re.escape(str(trace))}: expected a file of"):
            at_rate([trace], 0.5, tmp_path / "regenerated")
    assert not (tmp_path / "regenerated").exists()
