"""The files that store a model: Arrow tables, such as histories, and a little JSON, never code.

Equal models make equal bytes. Files are validated before use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from birthmark.data.common.regular import MODEL_BYTES, read_regular
from birthmark.features.history import History

SUBJECTS = ("file", "name")
"""The subjects that have a history: state at the end of the births that a model learned from."""


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


def write_histories(directory: Path, histories: Mapping[str, History]) -> list[str]:
    """Write the history of each subject; return the files' names."""
    for subject, history in histories.items():
        write_table(directory / _history_file(subject), history.to_table())
    return [_history_file(subject) for subject in histories]


def read_histories(directory: Path) -> dict[str, History]:
    """Return the saved histories by subject.

    Raises ``DamagedModelError``, naming the file, if it holds no history.
    """
    return {subject: _read_history(directory / _history_file(subject)) for subject in SUBJECTS}


def _history_file(subject: str) -> str:
    return f"history-{subject}.arrow"


def _read_history(path: Path) -> History:
    try:
        return History.from_table(read_table(path, None))
    except ValueError as error:
        raise DamagedModelError(path, f"a history ({error})") from error
