"""The mark of what was generated, and is no trace of anything real.

It says by which workload and from which seed, and is in everything that a workload is written to:
in the metadata of a Parquet file, in the first line of a text, and in every call's machine name,
which is all that a packet capture has room for. What is made of it carries it on: a dataset in the
records of its ingests, a model in its manifest, and reports show it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

KEY = b"birthmark.generated"
"""The key in a Parquet file's metadata."""

_COMMENT = b"# generated "
_MACHINE = re.compile(rb"\.(\w+)-seed(\d+)\.generated")

Mark = dict[str, Any]
"""What a workload was generated from: `name` and `seed` at least."""


def metadata(mark: Mark) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet schema that holds `mark`."""
    return {KEY: json.dumps(mark).encode()}


def comment(mark: Mark) -> bytes:
    """Return the first line of a text that holds `mark`, without its end."""
    return _COMMENT + json.dumps(mark).encode()


def machine(mark: Mark) -> str:
    """Return what follows a host's name in the calls of a generated trace."""
    return f"{mark['name']}-seed{mark['seed']}.generated"


def in_metadata(schema: pa.Schema) -> Mark | None:
    """Return the mark in a schema's metadata, if there is one."""
    return _read((schema.metadata or {}).get(KEY))


def in_comment(line: bytes | None) -> Mark | None:
    """Return the mark in the first line of a text, if there is one."""
    line = line or b""
    return _read(line.removeprefix(_COMMENT)) if line.startswith(_COMMENT) else None


def in_operations(batch: pa.RecordBatch) -> Mark | None:
    """Return the mark in the first call's machine name, if there is one."""
    name = batch["machine"][0].as_py() if batch.num_rows else None
    found = _MACHINE.search(name or b"")
    return {"name": found[1].decode(), "seed": int(found[2])} if found else None


def in_dataset(directory: Path) -> list[Mark]:
    """Return the marks of all that was ingested into a dataset, each once."""
    marks: list[Mark] = []
    for path in sorted((Path(directory) / "ingests").glob("*.json")):
        marks += json.loads(path.read_text(encoding="utf-8")).get("generated", [])
    return distinct(marks)


def distinct(marks: Iterable[Mark]) -> list[Mark]:
    """Return each mark once, in their order."""
    found: list[Mark] = []
    for mark in marks:
        if mark not in found:
            found.append(mark)
    return found


def describe(marks: Iterable[Mapping[str, Any]]) -> str:
    """Return for people what marks say: ``generated: campus, seed 7``."""
    said = dict.fromkeys(f"generated: {mark['name']}, seed {mark['seed']}" for mark in marks)
    return "; ".join(said)


def _read(text: bytes | None) -> Mark | None:
    """Return a mark that was written as JSON; None for anything else."""
    try:
        mark = json.loads(text or b"")
    except ValueError:
        return None
    known = isinstance(mark, dict) and {"name", "seed"} <= mark.keys()
    return mark if known else None
