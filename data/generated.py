"""The mark of generated data, which is no trace of anything real.

It names the workload and the seed, and is in every output of a workload: in the metadata of a
Parquet file, in the first line of a text, and in every call's machine name, the only place that a
packet capture has. Derived data carries it on: a dataset in the records of its ingests, a table of
counts as its format can, a model in its manifest, and reports show it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from birthmark.data.datasets.ingests import records

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"birthmark.generated"
"""The key in a Parquet file's metadata."""

_COMMENT = b"# generated "
_MACHINE = re.compile(rb"\.(\w+)-seed(\d+)\.generated")
_LABEL = re.compile(r"(\w+)-seed(\d+)")

Mark = dict[str, Any]
"""The source of a workload: `name` and `seed` at least."""


def metadata(mark: Mark) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet schema that holds `mark`."""
    return {KEY: json.dumps(mark).encode()}


def comment(mark: Mark) -> bytes:
    """Return the first line of a text that holds `mark`, without its end."""
    return _COMMENT + json.dumps(mark).encode()


def machine(mark: Mark) -> str:
    """Return what follows a host's name in the calls of a generated trace."""
    return f"{label([mark])}.generated"


def label(marks: Iterable[Mark]) -> str:
    """Return marks as words for one column of a table: ``campus-seed7``."""
    return " ".join(f"{mark['name']}-seed{mark['seed']}" for mark in marks)


def marked(schema: pa.Schema, marks: list[Mark]) -> pa.Schema:
    """Return the schema of a table derived from data with `marks`; unchanged for none."""
    if not marks:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), KEY: json.dumps(marks).encode()})


def in_metadata(schema: pa.Schema) -> Mark | None:
    """Return the mark in a schema's metadata, if there is one."""
    return next(iter(all_in_metadata(schema)), None)


def all_in_metadata(schema: pa.Schema) -> list[Mark]:
    """Return the marks in a schema's metadata: a trace's own, or those of `marked`."""
    return _read((schema.metadata or {}).get(KEY))


def in_comment(line: bytes | None) -> Mark | None:
    """Return the mark in the first line of a text, if there is one."""
    line = line or b""
    if not line.startswith(_COMMENT):
        return None
    return next(iter(_read(line.removeprefix(_COMMENT))), None)


def in_label(text: str) -> list[Mark]:
    """Return the marks in a column's label (`label`)."""
    return [{"name": name, "seed": int(seed)} for name, seed in _LABEL.findall(text)]


def in_operations(batch: pa.RecordBatch) -> Mark | None:
    """Return the mark in the first call's machine name, if there is one."""
    name = batch["machine"][0].as_py() if batch.num_rows else None
    found = _MACHINE.search(name or b"")
    return {"name": found[1].decode(), "seed": int(found[2])} if found else None


def in_dataset(directory: Path) -> list[Mark]:
    """Return the distinct marks of everything ingested into a dataset."""
    contents = records(Path(directory)).values()
    return distinct(mark for record in contents for mark in record.get("generated", []))


def distinct(marks: Iterable[Mark]) -> list[Mark]:
    """Return the distinct marks, in their order."""
    found: list[Mark] = []
    for mark in marks:
        if mark not in found:
            found.append(mark)
    return found


def describe(marks: Iterable[Mapping[str, Any]]) -> str:
    """Format marks for display: ``generated: campus, seed 7``."""
    labels = dict.fromkeys(f"generated: {mark['name']}, seed {mark['seed']}" for mark in marks)
    return "; ".join(labels)


def _read(text: bytes | None) -> list[Mark]:
    """Return the mark, or the list of marks, in a JSON text; an empty list for anything else."""
    try:
        found = json.loads(text or b"[]")
    except ValueError:
        return []
    marks = found if isinstance(found, list) else [found]
    return [mark for mark in marks if isinstance(mark, dict) and {"name", "seed"} <= mark.keys()]
