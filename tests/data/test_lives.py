"""From traces to file lives and name lives.

The suites in ``lives/`` show of each life how and when it was born, or first seen, and how and when
it died, or until when it was observed; then the columns that the case shows. They leave out the
directory ``dir``, which all names are in.
"""

from __future__ import annotations

import fnmatch
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import FILES, NAMES, TIME
from birthmark_native import LivesBuilder
from tests.builders.operations import (
    NOENT,
    Row,
    anything,
    batch,
    create,
    op,
    parse_operations,
    remove,
)
from tests.cases import Case, align, suites

COLUMNS = dict.fromkeys([*FILES.names, *NAMES.names])


def format_value(value: Any, column: str = "") -> str:
    """Return a value as a case shows it: times in seconds, modes in octal, a null as a minus."""
    if isinstance(value, datetime):
        return f"{value.timestamp():g}"
    if isinstance(value, bytes):
        return repr(value)[2:-1]
    if value is None:
        return "-"
    return oct(value) if column == "mode" else str(value).lower()


def cells_of(word: str, life: Row, show: list[str]) -> list[str]:
    """Return the cells of a life."""
    born = (life["how_born"], life["born"]) if life["birth_seen"] else ("seen", life["first_seen"])
    ended = (life["how_died"], life["died"])
    if not life["death_seen"]:
        ended = "until", life["observed_until"]
    path = f"{format_value(life['dir_fh'])}/{format_value(life['name'])}"
    names = (name for pattern in show for name in fnmatch.filter(COLUMNS, pattern))
    shown = [f"{name}={format_value(life[name], name)}" if name in life else "" for name in names]
    return [word, format_value(life["fh"]), path, *map(format_value, (*born, *ended)), *shown]


def lives_of(trace: str, show: list[str]) -> str:
    """Return the lives of a trace as align lines, files before names, in order of their start."""
    tables = lives.tables([batch(*parse_operations(trace))])
    rows = [
        cells_of(word, life, show)
        for word, table in zip(("file", "name"), tables, strict=True)
        for life in sorted(table.to_pylist(), key=lambda life: life["first_seen"])
        if life["fh"] != b"dir"
    ]
    return align(rows)


@suites("data/lives")
def test_a_trace_gives_lives(case: Case) -> None:
    case.expect(lives_of(case["trace"], case.get("show").split()))


def test_the_native_tables_have_the_schemas_of_the_data_package():
    builder = LivesBuilder()
    assert builder.take_files().schema.equals(FILES)
    assert builder.take_names().schema.equals(NAMES)


def test_the_tables_carry_the_documentation_of_each_column():
    files, names = lives.tables([batch(create(1, b"a", b"A"))])
    assert files.schema.equals(FILES, check_metadata=True)
    assert names.schema.equals(NAMES, check_metadata=True)


def test_early_values_are_the_same_for_lives_that_waited_on_disk():
    operations = batch(
        *(create(i, b"%d" % i, b"F%d" % i, atime=i) for i in range(1, 9)),
        *(op("write", 10 + i, b"F%d" % i, offset=0, count=9, reply_count=9) for i in range(1, 9)),
    )
    few, many = (lives.tables([operations], max_live=most)[0] for most in (2, 1000))
    assert few.sort_by("fh").equals(many.sort_by("fh"))
    assert set(many["early_writes"].to_pylist()) == {0, None}


def test_operations_that_failed_or_got_no_reply_change_nothing():
    done = ["1 create dir/a A", "2 write A offset=0 count=5"]
    noise = [
        "3 remove dir/a status=-",
        "4 remove dir/a status=acces",
        "5 write A offset=0 count=500 status=-",
        "5 read A reply_count=500 status=5",
        "6 rename dir/a dir/b status=acces",
        "7 create dir/c C status=-",
        "8 getattr A status=noent",
    ]

    def rows(*trace: str) -> list[Row]:
        tables = lives.tables([batch(*parse_operations("\n".join(trace)))])
        return [row for table in tables for row in table.to_pylist() if row["fh"] != b"dir"]

    expected = rows(*done, "9 null dir")
    assert len(expected) == 2
    # but an unanswered call may have been executed
    assert rows(*done, *noise, "9 null dir") == [row | {"loss_nearby": True} for row in expected]


def test_lives_come_out_as_they_end_and_the_rest_in_the_end():
    builder = LivesBuilder()
    builder.update(batch(create(1, b"a", b"A"), create(1, b"b", b"B")))
    assert builder.take_files().num_rows == 0
    builder.update(batch(remove(2, b"a")))
    assert builder.take_files().num_rows == 0  # losses near it may still become known
    builder.update(batch(remove(65, b"z", status=NOENT)))
    assert builder.take_files()["fh"].to_pylist() == [b"A"]
    assert builder.take_names()["name"].to_pylist() == [b"a"]
    assert builder.take_files().num_rows == 0
    builder.finish()
    assert sorted(builder.take_files()["fh"].to_pylist()) == [b"B", b"dir"]
    assert builder.take_files().num_rows == 0
    assert builder.take_names()["name"].to_pylist() == [b"b"]


def test_the_result_does_not_depend_on_how_operations_are_batched():
    rows = parse_operations(
        "1 create dir/a A\n2 link A dir/b\n3 rename dir/a dir/c\n"
        "4 remove dir/b\n5 remove dir/c\n6 create dir/d D"
    )
    whole = lives.tables([batch(*rows)])
    assert lives.tables([batch(row) for row in rows]) == whole
    assert lives.tables([batch(*rows).slice(0, 2), batch(*rows).slice(2)]) == whole


def in_order(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("seed", range(8))
def test_lives_that_wait_on_disk_come_out_as_if_they_had_not(seed):
    batches = [batch(*anything(seed, 400))]
    files, names = lives.tables(batches)
    assert files.num_rows > 50
    assert names.num_rows > 50
    for max_live in (0, 5, 20):
        spilled = lives.tables(batches, max_live)
        assert in_order(spilled[0]) == in_order(files)
        assert in_order(spilled[1]) == in_order(names)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_rows_keep_to_their_meaning(seed):
    """Every column is as data.schema documents it, on operations that make no sense together."""
    files, names = lives.tables([batch(*anything(seed + 100, 2000))])
    for row in files.to_pylist() + names.to_pylist():
        assert row["birth_seen"] == (row["born"] is not None) == (row["how_born"] is not None)
        assert row["death_seen"] == (row["died"] is not None) == (row["how_died"] is not None)
        assert row["first_seen"] <= row["observed_until"]
        assert row["died"] in (None, row["observed_until"])
    for row in files.to_pylist():
        assert row["first_seen"] <= row["last_seen"] <= row["observed_until"]
        assert row["last_size"] is None or row["last_size"] <= row["max_size"]
        assert row["reads"] + row["writes"] <= row["operations"]


def test_a_missing_column_is_named():
    good = batch(create(1, b"a", b"A"))
    with pytest.raises(ValueError, match='column "dir_pre_mtime" is missing'):
        LivesBuilder().update(good.drop_columns(["dir_pre_mtime"]))


def test_a_column_of_another_type_is_named_with_what_was_expected():
    good = batch(create(1, b"a", b"A"))
    index = good.schema.get_field_index("offset")
    bad = good.set_column(index, "offset", pa.array([1], pa.int32()))
    with pytest.raises(ValueError, match=r'"offset" is Int32, expected UInt64'):
        LivesBuilder().update(bad)


def test_a_null_time_is_refused():
    good = batch(create(1, b"a", b"A"))
    with pytest.raises(ValueError, match='column "time" has nulls'):
        LivesBuilder().update(good.set_column(0, "time", pa.array([None], TIME)))


def test_no_operations_come_after_the_end():
    builder = LivesBuilder()
    builder.finish()
    with pytest.raises(ValueError, match="after the end"):
        builder.update(batch(create(1, b"a", b"A")))
