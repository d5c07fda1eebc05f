"""What a comparison found, as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from birthmark.data.common.durable import replaced
from birthmark.data.generated import marked
from birthmark.layout_hint import report
from birthmark.layout_hint.comparison import grid
from birthmark.layout_hint.comparison.figures import Comparison

RESULTS = "results.json"
COUNTS = "counts"
GRID = "grid"


def check(out: Path) -> None:
    """Raise ``FileExistsError`` if there is something in the directory ``out``, or it is none."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out}: expected a directory that is empty or not there yet")


def write(comparison: Comparison, out: Path) -> list[Path]:
    """Write a comparison into a directory that is empty or not there; return what is in it.

    ``results.json`` has all figures, ``counts/`` a Parquet file for each run in the map of the
    disk, and besides there are the pictures.

    Raises:
        FileExistsError: there is something in the directory.
    """
    check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced(out) as aside:
        (aside / COUNTS).mkdir(parents=True)
        text = json.dumps(report.to_json(comparison), indent=2) + "\n"
        (aside / RESULTS).write_text(text, encoding="utf-8")
        for (day, policy, mode, state), counts in comparison.heat.items():
            words = (day, policy.replace(" ", "-"), mode, state)
            name = "_".join(word for word in words if word)
            whole = counts.cast(marked(counts.schema, list(comparison.generated)))
            pq.write_table(whole, aside / COUNTS / f"{name}.parquet", compression="zstd")
        report.draw(comparison, aside)
    return sorted(path for path in out.rglob("*") if path.is_file())


def write_grid(cells: Sequence[tuple[grid.Cell, Comparison]], out: Path) -> list[Path]:
    """Write a grid into a directory that is empty or not there; return what is in it.

    ``grid.parquet`` and ``grid.json`` have all results as one table; a folder for each combination
    has what `write` writes. Errors as of `write`.
    """
    check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = grid.table(cells)
    marks = {repr(mark): mark for _, found in cells for mark in found.generated}
    with replaced(out) as aside:
        aside.mkdir(parents=True)
        marked_rows = rows.cast(marked(rows.schema, list(marks.values())))
        pq.write_table(marked_rows, aside / f"{GRID}.parquet", compression="zstd")
        text = json.dumps(rows.to_pylist(), indent=2) + "\n"
        (aside / f"{GRID}.json").write_text(text, encoding="utf-8")
        for cell, found in cells:
            write(found, aside / cell.name.replace("/", "-"))
    return sorted(path for path in out.rglob("*") if path.is_file())
