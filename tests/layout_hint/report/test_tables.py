"""The tables of a comparison.

Tests also layout_hint/comparison/figures.py, layout_hint/replay/conditions.py.
"""

from __future__ import annotations

import dataclasses
import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from birthmark.layout_hint import report
from birthmark.layout_hint.comparison.figures import Comparison
from tests.layout_hint.report.made import comparison


def text(table: Table) -> str:
    console = Console(file=io.StringIO(), width=250)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def row(table: str, day: str, first: str) -> list[str]:
    """The cells of the first row of that name after a day."""
    lines = table[table.index(day) :].splitlines()
    line = next(line.strip() for line in lines if line.strip().startswith(first))
    return line.removeprefix(first).split()


def test_there_are_both_kinds_of_tables_for_each_state_and_mode() -> None:
    titles = [str(table.title) for table in report.tables(comparison())]
    assert len(titles) == 4
    for title, mode in zip(titles, ("reserved", "preferred") * 2, strict=True):
        assert title.endswith(f"CAMPUS, fresh file system, 4 MB region, mode {mode}")
    assert [title.split(",")[0] for title in titles] == [
        *["Operations in the region"] * 2,
        *["Gain in elapsed time over Default"] * 2,
    ]


def test_a_row_has_target_and_optimal_and_beside_them_the_thesiss() -> None:
    made = comparison()
    found = made.find("2001-10-23", "HotDir+HotName", "reserved")
    assert found
    cells = row(text(report.tables(made)[0]), "2001-10-23", "HotDir+HotName")
    means = cells[0:6:2] + cells[6:9]
    expected = [getattr(of, each).mean for of in (found.target, found.optimal) for each in
                ("total", "read", "write")]  # fmt: skip
    assert [float(each) / 100 for each in means] == pytest.approx(expected, abs=1e-5)
    deviation = found.target.write.deviation
    assert deviation
    assert float(cells[5].removeprefix("±")) == pytest.approx(100 * deviation, abs=1e-3)
    assert float(cells[9]) == pytest.approx(100 * found.of_optimal, abs=0.5)
    assert cells[10:] == ["2.248", "0.086", "7.183", "90"]
    assert row(text(report.tables(made)[0]), "2001-10-23", "all three")[10:] == ["–"] * 4


def test_shows_the_share_of_a_random_region_below() -> None:
    made = comparison(days=("2001-10-23",), seeds=(1,))
    found = made.find("2001-10-23", "Default", None)
    assert found
    caption = report.tables(made)[0].caption
    assert caption == (
        f"A region at random would get {100 * found.random.mean:.3f} (thesis: 0.04)."
    )


def test_the_gains_stand_above_the_thesiss_with_those_of_memory() -> None:
    made = comparison()
    table = text(report.tables(made)[2])
    assert row(table, "2001-10-24", "2001-10-24")[0] == "1,000.0"
    gains = row(table, "2001-10-24", "2001-10-24")[1::2]
    assert gains == ["3.90", "5.90", "7.90", "8.90"]  # made.py: HotDir, both, all three, NVRAM
    assert row(table, "2001-10-24", "thesis") == ["–", "4.43", "5.70", "–", "10.96"]
    assert "NVRAM: HotDir+HotName with the region in memory." in table


def test_other_traces_and_aged_file_systems_stand_alone() -> None:
    made = comparison("HOME")
    assert "thesis" not in "".join(map(text, report.tables(made)))
    aged = tuple(dataclasses.replace(each, state="aged") for each in comparison().results)
    tables = report.tables(dataclasses.replace(comparison(), results=aged))
    assert "aged file system" in text(tables[0])
    assert "7.183" not in "".join(map(text, tables))


def test_one_seed_has_no_spread_and_default_alone_has_one_table_of_each_kind() -> None:
    made = comparison(seeds=(5,))
    assert "±" not in "".join(map(text, report.tables(made)))
    only = tuple(each for each in made.results if each.policy == "Default")
    tables = report.tables(dataclasses.replace(made, results=only))
    assert len(tables) == 2
    assert str(tables[0].title).endswith("4 MB region")
    assert row(text(tables[0]), "2001-10-23", "Default")


def test_a_file_system_that_was_left_inconsistent_is_marked() -> None:
    made = comparison()
    first = dataclasses.replace(made.results[0], inconsistency="inode 5 has two names")
    wrong = dataclasses.replace(made, results=(first, *made.results[1:]))
    assert "Default (inconsistent)" in text(report.tables(wrong)[0])
    assert "inconsistent" not in text(report.tables(made)[0])


def test_as_json_the_thesiss_figures_are_beside() -> None:
    made: Comparison = comparison()
    found = json.loads(json.dumps(report.to_json(made)))
    assert {key: found[key] for key in made.to_json()} == json.loads(json.dumps(made.to_json()))
    both = next(each for each in found["thesis"]["locality"] if each["policy"] == "HotDir+HotName")
    assert both["target"] == pytest.approx([0.02248, 0.00086, 0.07183])
    assert both["of_optimal"] == pytest.approx(0.07183 / 0.07966)
    memory = [each for each in found["thesis"]["elapsed"] if each["nvram"]]
    assert [each["day"] for each in memory] == ["2001-10-23", "2001-10-24"]
    assert memory[0]["improvement"] == pytest.approx(0.1099)
    nothing = report.to_json(comparison("HOME"))["thesis"]
    assert nothing == {"locality": [], "elapsed": []}
