"""Tables 7.1 to 7.4 as DataFrames."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from birthmark.layout_hint.report.frames import (
    locality,
    saved_time,
    thesis_locality,
    thesis_saved_time,
)
from tests.layout_hint.report.made import comparison


def test_locality_has_a_row_for_each_day_mode_and_policy() -> None:
    made = comparison()
    frame = locality(made)
    assert frame.index.names == ["Day", "State", "Mode", "Condition"]
    assert list(frame.columns.get_level_values(0)) == ["Target"] * 3 + ["Optimal"] * 3 + ["Target"]
    found = made.find("2001-10-23", "HotDir", "reserved")
    assert found
    row = frame.loc[("2001-10-23", "fresh", "reserved", "HotDir")]
    assert row["Target", "Write"] == pytest.approx(100 * found.target.write.mean)
    assert row["Optimal", "Total"] == pytest.approx(100 * found.optimal.total.mean)
    assert row["Target", "of optimal"] == pytest.approx(100 * found.of_optimal)
    assert ("2001-10-24", "fresh", "preferred", "Default") in frame.index


def test_saved_time_has_a_column_for_each_policy_and_for_memory() -> None:
    made = comparison()
    frame = saved_time(made)
    assert list(frame.index.names) == ["Day", "State", "Mode"]
    assert {"HotDir", "HotDir+HotName", "NVRAM"} <= set(frame.columns)
    assert "Default" not in frame.columns
    found = made.find("2001-10-23", "HotDir", "reserved")
    assert found
    cell = frame.loc[("2001-10-23", "fresh", "reserved"), "HotDir"]
    assert cell == pytest.approx(100 * found.improvement.mean)


def test_the_thesis_s_figures_have_its_rows_and_columns() -> None:
    table = thesis_locality("EECS03")
    assert list(table.index.unique("Condition")) == [
        "Default", "HotDir", "HotName", "HotDir+HotName",
    ]  # fmt: skip
    assert list(table.columns) == [
        (of, each) for of in ("Target", "Optimal") for each in ("Total", "Read", "Write")
    ]
    assert table.loc[("2003-02-27", "Default"), ("Optimal", "Read")] == pytest.approx(11.805)
    saved = thesis_saved_time("EECS03")
    assert list(saved.columns) == ["HotName", "HotDir", "HotDir+HotName", "NVRAM"]
    assert list(saved.loc["2003-02-27"]) == pytest.approx([1.61, -1.00, -1.63, 5.28])
    assert len(saved) == table.index.get_level_values("Day").nunique() == 4


@pytest.mark.parametrize("printed", [thesis_locality, thesis_saved_time])
def test_a_trace_that_the_thesis_has_not_is_refused(printed: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="'EECS' is no trace of the thesis"):
        printed("EECS")
