"""What differs between the answers of two commits. Tests also ``identical_measure``."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import identical_measure
from benchmarks.identical import differences
from benchmarks.identical_measure import FIGURES
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS


def test_what_differs_is_named_and_nothing_else() -> None:
    old = {"answer best bounded lock": "a", "table files uid": "b", "figure gone": "c"}
    new = {"answer best bounded lock": "x", "table files uid": "b", "figure new": "d"}
    assert differences(old, old) == []
    assert differences(old, new) == [
        "answer best bounded lock differs",
        "figure gone is of the old commit alone",
        "figure new is of the new commit alone",
    ]


def test_a_digest_depends_on_values_and_their_order() -> None:
    digest = identical_measure.digest
    assert digest([True, None]) == digest([True, None])
    assert len({digest([]), digest([True]), digest([True, None]), digest([None, True])}) == 4


@pytest.mark.parametrize("changed", FIGURES)
def test_any_figure_of_a_row_counts(changed: str) -> None:
    row = {"subject": "file", "predicate": "lock", "model": "best", "point": "bounded"}
    row |= dict.fromkeys(FIGURES, 1)
    (name, before), *_ = identical_measure.evaluation(pa.Table.from_pylist([row]))
    ((_, after),) = identical_measure.evaluation(pa.Table.from_pylist([row | {changed: 2}]))
    assert name == "figure file lock best bounded"
    assert before != after


def test_each_column_of_a_dataset_is_compared(tmp_path: Path) -> None:
    pq.write_table(pq.read_table(DAYS[0]).slice(0, 1000), tmp_path / "part.parquet")
    ingest([tmp_path / "part.parquet"], tmp_path / "day")
    found = dict(identical_measure.tables(tmp_path / "day"))
    assert {"table operations time", "table files uid", "table names name"} <= found.keys()
