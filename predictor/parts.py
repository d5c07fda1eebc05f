"""The files that store a model: Arrow tables and a little JSON, never code.

Equal models make equal bytes. Files are validated before use.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from birthmark.data.common.regular import MODEL_BYTES, read_regular


class DamagedModelError(ValueError):
    """A part of a stored model is missing, or not what was stored."""

    def __init__(self, path: Path, expected: str) -> None:
        super().__init__(f"{path}: expected {expected}")


class OlderModelError(DamagedModelError):
    """A stored model of an earlier or later release, whose format this one does not read."""

    def __init__(self, path: Path, found: int, read: int) -> None:
        when, do = ("an earlier", "run birthmark nightly, or birthmark train")
        if found > read:
            when, do = ("a later", "go on with that release, or run birthmark train")
        ValueError.__init__(
            self,
            f"{path}: is of {when} release (format {found}, and this one reads {read}): {do},"
            " which publishes a model of this release",
        )


def write_table(path: Path, table: pa.Table) -> None:
    """Write ``table`` as an Arrow file."""
    options = ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)
    with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table.schema, options=options) as f:
        f.write_table(table.combine_chunks())


def read_table(path: Path, schema: pa.Schema | None) -> pa.Table:
    """Return the table at ``path``; raise ``DamagedModelError`` unless it has this ``schema``.

    With ``None``, the caller checks the columns.
    """
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = ipc.open_file(source).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedModelError(path, f"an Arrow file ({error})") from error
    if schema is None:
        return table
    if not table.schema.equals(schema):
        raise DamagedModelError(path, f"the columns {schema.names} and their types")
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            raise DamagedModelError(path, f"no nulls in column {field.name!r}")
    return table


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as JSON."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object at ``path``; raise ``DamagedModelError`` if there is none."""
    try:
        content = json.loads(read_regular(path, MODEL_BYTES))
    except (OSError, ValueError) as error:
        raise DamagedModelError(path, f"a JSON object ({error})") from error
    if not isinstance(content, dict):
        raise DamagedModelError(path, "a JSON object")
    return content
