"""Plots: their contents, and that they are drawn.

Tests also data/common/plot_style.py.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data.scan import counts_schema
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.series import MEASURES, over_time, overlaid
from birthmark.data.scan.view import draw

HOUR = 3_600_000_000


def table(path: Path, rows: list[tuple[int, int]]) -> CountsTable:
    """Return counts of reads in periods of an hour: when each begins, in hours, and how many."""
    full = [
        dict.fromkeys(counts_schema([]).names, 0)
        | {"time": hour * HOUR, "seconds": 3600.0, "op": "read", "ops": ops, "latency": []}
        for hour, ops in rows
    ]
    pq.write_table(pa.Table.from_pylist(full, counts_schema([])), path)
    return CountsTable(str(path))


def test_a_line_has_each_periods_rate(counts: str) -> None:
    (line,) = over_time(CountsTable(counts)).series
    assert len(line.starts) == 15
    assert line.values.sum() * 5 == pytest.approx(104_344)
    rows = pq.read_table(counts)
    rows = rows.filter(pc.equal(rows["directory"], "/"))
    first = rows.filter(pc.equal(rows["time"], rows["time"][0]))
    assert line.values[0] == pytest.approx(sum(first["ops"].to_pylist()) / 5)


def test_the_busiest_have_a_line_each_and_the_others_one(counts: str) -> None:
    whole = over_time(CountsTable(counts)).series[0].values
    lines = over_time(CountsTable(counts), by="uid", most=2).series
    assert [line.label for line in lines] == ["uid 1002", "uid 1001", "7 others"]
    assert sum(line.values for line in lines) == pytest.approx(whole)
    assert len(over_time(CountsTable(counts), by="uid", most=8).series) == 9  # no "1 others"
    assert [line.label for line in over_time(CountsTable(counts), by="op", most=1).series] == [
        *("lookup", "7 others")
    ]


def test_directories_hold_each_other_so_the_others_have_no_line(counts: str) -> None:
    lines = over_time(CountsTable(counts), by="directory", most=2).series
    assert [line.label for line in lines] == ["/", "/home"]


def test_every_measure_is_drawn_from_its_own_column(counts: str) -> None:
    rows = pq.read_table(counts)
    rows = rows.filter(pc.equal(rows["directory"], "/"))
    sums = {
        "ops": pc.sum(rows["ops"]).as_py(),
        "read": pc.sum(rows["bytes_read"]).as_py() / 1e6,
        "written": pc.sum(rows["bytes_written"]).as_py() / 1e6,
        "errors": pc.sum(rows["errors"]).as_py(),
    }
    for measure, expected in sums.items():
        (line,) = over_time(CountsTable(counts), measure).series
        assert line.values.sum() * 5 == pytest.approx(expected), measure
    (latency,) = over_time(CountsTable(counts), "latency").series
    last = rows.filter(pc.equal(rows["time"], pc.max(rows["time"])))
    mean = pc.sum(last["latency_sum"]).as_py() / pc.sum(last["ops"]).as_py()
    assert latency.values[-1] == pytest.approx(mean / 1000)
    assert set(MEASURES) == {*sums, "latency"}


def test_a_period_without_operations_is_0_and_has_no_latency(tmp_path: Path) -> None:
    counts = table(tmp_path / "t.parquet", [(0, 3600), (2, 7200)])
    assert list(over_time(counts).series[0].values) == [1, 0, 2]
    assert np.isnan(over_time(counts, "latency").series[0].values[1])


def test_days_are_laid_over_each_other_from_midnight_of_the_zone(tmp_path: Path) -> None:
    counts = table(tmp_path / "t.parquet", [(hour, 3600 * (hour // 24)) for hour in range(22, 72)])
    days = overlaid(over_time(counts), 24 * HOUR).series
    assert [day.label for day in days] == [*("Thu 1970-01-01", "Fri 1970-01-02", "Sat 1970-01-03")]
    assert list(days[0].starts // HOUR) == [22, 23]
    assert set(days[2].values) == {2}
    tokyo = overlaid(over_time(counts), 24 * HOUR, ZoneInfo("Asia/Tokyo")).series
    assert [len(day.starts) for day in tokyo] == [17, 24, 9]


def test_only_one_line_can_be_laid_over_itself(counts: str) -> None:
    with pytest.raises(ValueError, match="show one line"):
        overlaid(over_time(CountsTable(counts), by="uid"), 24 * HOUR)


@pytest.mark.parametrize("name", ["plot.svg", "plot.png"])
def test_the_same_counts_give_the_same_file(name: str, counts: str, tmp_path: Path) -> None:
    plotted = over_time(CountsTable(counts), by="client")
    draw(plotted, tmp_path / name, "Clients")
    first = (tmp_path / name).read_bytes()
    draw(plotted, tmp_path / name, "Clients")
    assert (tmp_path / name).read_bytes() == first
    assert first.startswith(b"<?xml" if name.endswith("svg") else b"\x89PNG")
    assert str(datetime.now(UTC).year).encode() not in first[:600]


def test_a_plot_names_its_lines_and_axes(counts: str, tmp_path: Path) -> None:
    draw(over_time(CountsTable(counts), by="client", most=2), tmp_path / "p.svg", "Two & more")
    text = (tmp_path / "p.svg").read_text()
    for words in ("127.0.0.11", "3 others", "operations per second", "in periods of 5 s",
                  "time (UTC), 2026-11-21", "Two &amp; more"):  # fmt: skip
        assert f"<!-- {words} -->" in text


def test_a_name_in_a_plot_is_neither_a_formula_nor_a_control_character(
    counts: str, tmp_path: Path
) -> None:
    plotted = over_time(CountsTable(counts), by="client", most=1)
    plotted.series[0].label = "/$\\alpha$\x1b"
    draw(plotted, tmp_path / "p.svg")
    assert r"<!-- /$\alpha$\x1b -->" in (tmp_path / "p.svg").read_text()


def test_another_format_is_refused(counts: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"p.pdf: expected a name that ends in .svg or .png"):
        draw(over_time(CountsTable(counts)), tmp_path / "p.pdf")


def test_impossible_plots_are_refused(counts: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no rows"):
        over_time(table(tmp_path / "none.parquet", []))
    with pytest.raises(ValueError, match="10,000,001 periods"):
        over_time(table(tmp_path / "long.parquet", [(0, 1), (10_000_000, 1)]))
    with pytest.raises(ValueError, match="no column gid"):
        over_time(CountsTable(counts), by="gid")
