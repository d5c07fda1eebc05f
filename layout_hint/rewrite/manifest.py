"""The manifest of a build: Parquet for programs, and CSV to look at."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from birthmark.data.datasets import row_groups
from birthmark.layout_hint.rewrite.schema import MANIFEST, ROOT_ID
from birthmark.layout_hint.rewrite.spool import Spool

COLUMNS = ("id", "kind", "mode", "owner", "group", "size", "mtime", "invented", "path", "target")


def write_manifest(
    spool: Path, directory: Path, discarded: set[int]
) -> tuple[dict[str, int], int, int]:
    """Write ``manifest.parquet`` and ``manifest.csv`` from an unordered spool of names.

    Directories come before what they hold, and have their paths. Names of objects in ``discarded``
    are left out. Returns the number of objects by kind, of names, and the bytes of the files.
    """
    directories = {row["id"]: row for row in _rows(spool) if row["kind"] == "directory"}
    paths: dict[int, bytes] = {ROOT_ID: b""}
    kinds: Counter[str] = Counter()
    seen: set[int] = set()
    total = 0
    with (
        Spool(directory / "manifest.parquet", MANIFEST) as table,
        (directory / "manifest.csv").open("w", encoding="utf-8", newline="") as file,
    ):
        text = csv.writer(file)
        text.writerow(COLUMNS)
        for row in _in_order(spool, directories, paths, discarded):
            table.add(row)
            text.writerow([_shown(name, row[name]) for name in COLUMNS])
            if row["id"] not in seen:
                kinds[row["kind"]] += 1
                total += (row["size"] or 0) if row["kind"] == "file" else 0
                seen.add(row["id"])
    return dict(kinds.most_common()), table.written, total


def _in_order(
    spool: Path, directories: dict[int, dict[str, Any]], paths: dict[int, bytes], without: set[int]
) -> Iterator[dict[str, Any]]:
    """Yield directories, parents first, then everything else; each with its path."""
    for number in directories:
        chain = []
        while number not in paths:
            chain.append(directories[number])
            number = directories[number]["parent"]
        for row in reversed(chain):
            paths[row["id"]] = row["path"] = _join(paths[row["parent"]], row["name"])
            yield row
    for row in _rows(spool):
        if row["kind"] != "directory" and row["id"] not in without:
            row["path"] = _join(paths[row["parent"]], row["name"])
            yield row


def _rows(spool: Path) -> Iterator[dict[str, Any]]:
    for batch in row_groups.batches(pq.ParquetFile(spool), 16_384):
        yield from batch.to_pylist()


def _join(above: bytes, name: bytes) -> bytes:
    return above + b"/" + name if above else name


def _shown(column: str, value: Any) -> Any:
    r"""Return a value for the CSV: octal modes, and names' odd bytes as ``\xNN``."""
    if isinstance(value, bytes):
        text = value.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
        return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    if column == "mode" and value is not None:
        return f"{value:04o}"
    if column == "mtime" and value is not None:
        return value.isoformat()
    return value
