"""From lives to labels: predicates on handmade lives.

A suite in ``labels/`` has tables: a life in each row, its columns to the left of the bar, and its
labels to the right. Columns that a table lacks are null. Times are seconds after ten o'clock;
``born`` is null where the birth was not seen, ``died`` where the death was not seen, and then
``until`` is when the life was last observed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from birthmark.data.schema import FILES, NAMES, TIME
from birthmark.features import DIRECTORIES
from birthmark.predictor.predicates import BUILT_IN
from tests.builders.lives import table
from tests.cases import Case, align, suites

START = datetime(2001, 10, 22, 10, tzinfo=UTC)
UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20}
TIMES = {"until", *(field.name for field in FILES if field.type == TIME)}
SCHEMAS = {"file": FILES, "name": NAMES, "directory": DIRECTORIES}


def parse_cell(column: str, text: str) -> Any:
    """Return the value of a cell: ``16k+1`` is a number of bytes."""
    if text == "-":
        return None
    if column in TIMES:
        return START + timedelta(seconds=float(text))
    number, unit, more = re.fullmatch(r"(\d+)([kM]?)([+-]\d+)?", text).groups()
    return int(number) * UNITS[unit] + int(more or 0)


def life_of(cells: dict[str, str]) -> dict[str, Any]:
    """Return the columns of a life."""
    row = {column: parse_cell(column, text) for column, text in cells.items()}
    if "born" in row:
        row |= {"birth_seen": row["born"] is not None, "death_seen": row["died"] is not None}
        row |= {"first_seen": row["born"] or START, "observed_until": row.pop("until", row["died"])}
    return row


def label_of(key: str, life: dict[str, Any]) -> str:
    """Return what a predicate finds of a life."""
    schema = SCHEMAS[BUILT_IN[key].subject]
    known = {column: value for column, value in life.items() if column in schema.names}
    (found,) = BUILT_IN[key].evaluate(table(schema, [known])).to_pylist()
    return {True: "yes", False: "no", None: "unknown"}[found]


def add_labels(text: str) -> str:
    """Return a table with the labels of its lives."""
    head, *rows = ([cells.split() for cells in line.split("|")] for line in text.splitlines())
    columns, keys = head
    found = [[*columns, "|", *keys]]
    for cells, *_ in rows:
        row = life_of(dict(zip(columns, cells, strict=True)))
        found.append([*cells, "|", *(label_of(key, row) for key in keys)])
    return align(found)


@suites("predictor/predicates/labels")
def test_lives_have_labels(case: Case) -> None:
    case.expect(add_labels(case.expected))
