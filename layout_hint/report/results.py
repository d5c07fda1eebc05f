"""Files with the results of a comparison."""

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
    """Raise ``FileExistsError`` unless ``out`` is an empty directory or missing."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out}: expected a directory that is empty or not there yet")


def write(comparison: Comparison, out: Path) -> list[Path]:
    """Write a comparison into an empty or missing directory; return its files.

    ``results.json`` has all figures, ``counts/`` a Parquet file for each run in the map of the
    disk; the pictures are next to them.

    Raises:
        FileExistsError: there is something in the directory.
    """
    check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced(out) as folder:
        (folder / COUNTS).mkdir(parents=True)
        text = json.dumps(report.to_json(comparison), indent=2) + "\n"
        (folder / RESULTS).write_text(text, encoding="utf-8")
        for (day, policy, mode, state), counts in comparison.heat.items():
            words = (day, policy.replace(" ", "-"), mode, state)
            name = "_".join(word for word in words if word)
            whole = counts.cast(marked(counts.schema, list(comparison.generated)))
            pq.write_table(whole, folder / COUNTS / f"{name}.parquet", compression="zstd")
        report.draw(comparison, folder)
    return sorted(path for path in out.rglob("*") if path.is_file())


def write_grid(cells: Sequence[tuple[grid.Cell, Comparison]], out: Path) -> list[Path]:
    """Write a grid into an empty or missing directory; return its files.

    ``grid.parquet`` and ``grid.json`` have all results as one table; a folder for each combination
    has the files of `write`. Errors as of `write`.
    """
    check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = grid.table(cells)
    marks = {repr(mark): mark for _, found in cells for mark in found.generated}
    with replaced(out) as folder:
        folder.mkdir(parents=True)
        marked_rows = rows.cast(marked(rows.schema, list(marks.values())))
        pq.write_table(marked_rows, folder / f"{GRID}.parquet", compression="zstd")
        text = json.dumps(rows.to_pylist(), indent=2) + "\n"
        (folder / f"{GRID}.json").write_text(text, encoding="utf-8")
        for cell, found in cells:
            write(found, folder / cell.name.replace("/", "-"))
    return sorted(path for path in out.rglob("*") if path.is_file())
