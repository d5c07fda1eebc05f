"""The parts that store a model: Arrow tables, such as histories, and a little JSON, never code.

They are in one archive (``ARCHIVE``), uncompressed. Equal models make equal bytes. Parts are
validated before use.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from birthmark.data.common.regular import MODEL_BYTES, read_regular
from birthmark.features.history import History

ARCHIVE = "models.zip"
"""The file that has all parts but users' estimators and images."""

Part = Path | zipfile.Path
"""The path of a part, or of the directory or archive of parts."""

SUBJECTS = ("file", "name")
"""The subjects that have a history: state at the end of the births that a model learned from."""


class DamagedModelError(ValueError):
    """A part of a stored model is missing, or not what was stored."""

    def __init__(self, path: Part, expected: str) -> None:
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


@contextmanager
def archive(directory: Path) -> Iterator[zipfile.Path]:
    """Make the archive in a directory; yield the place for its parts."""
    with zipfile.ZipFile(directory / ARCHIVE, "w") as content:
        yield zipfile.Path(content)


def copy(directory: Path, archive: zipfile.Path, without: Collection[str]) -> None:
    """Copy the parts of a stored model into an archive, ``without`` those of these names.

    Raises ``DamagedModelError`` for a model without an archive, which earlier releases stored.
    """
    source = parts_of(directory)
    if not isinstance(source, zipfile.Path):
        raise DamagedModelError(directory / ARCHIVE, "an archive")
    for name in source.root.namelist():
        if name not in without and not name.endswith("/"):  # directories are implied
            archive.root.writestr(name, source.root.read(name))


def parts_of(directory: Path) -> Part:
    """Return the place of a stored model's parts; earlier releases had no archive.

    Raises ``DamagedModelError`` for an archive that is not as ``archive`` makes it.
    """
    path = directory / ARCHIVE
    if not path.exists():
        return directory
    try:
        parts = zipfile.Path(path)
        plain = all(part.compress_type == zipfile.ZIP_STORED for part in parts.root.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise DamagedModelError(path, f"an archive ({error})") from error
    if not plain:
        raise DamagedModelError(path, "an archive without compression")
    return parts


def _read(path: Part) -> bytes:
    """Return the bytes of a part; raise ``OSError`` or ``ValueError`` unless it is whole."""
    if isinstance(path, Path):
        return read_regular(path, MODEL_BYTES)
    try:
        return path.read_bytes()
    except (KeyError, zipfile.BadZipFile) as error:
        raise ValueError(error) from error


def write_table(path: Part, table: pa.Table) -> None:
    """Write ``table`` as an Arrow file."""
    options = ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)
    with path.open("wb") as sink, ipc.new_file(sink, table.schema, options=options) as file:
        file.write_table(table.combine_chunks())


def read_table(path: Part, schema: pa.Schema | None) -> pa.Table:
    """Return the table at ``path``; raise ``DamagedModelError`` unless it has this ``schema``.

    With ``None``, the caller checks the columns.
    """
    try:
        table = ipc.open_file(pa.BufferReader(_read(path))).read_all()
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


def write_json(path: Part, content: Any) -> None:
    """Write ``content`` as JSON."""
    with path.open("wb") as file:
        file.write((json.dumps(content, indent=1) + "\n").encode())


def read_json(path: Part) -> dict[str, Any]:
    """Return the JSON object at ``path``; raise ``DamagedModelError`` if there is none."""
    try:
        content = json.loads(_read(path))
    except (OSError, ValueError) as error:
        raise DamagedModelError(path, f"a JSON object ({error})") from error
    if not isinstance(content, dict):
        raise DamagedModelError(path, "a JSON object")
    return content


def write_histories(directory: Part, histories: Mapping[str, History]) -> list[str]:
    """Write the history of each subject; return the files' names."""
    for subject, history in histories.items():
        write_table(directory / _history_file(subject), history.to_table())
    return [_history_file(subject) for subject in histories]


def read_histories(directory: Part) -> dict[str, History]:
    """Return the saved histories by subject.

    Raises ``DamagedModelError``, naming the file, if it holds no history.
    """
    return {subject: _read_history(directory / _history_file(subject)) for subject in SUBJECTS}


def _history_file(subject: str) -> str:
    return f"history-{subject}.arrow"


def _read_history(path: Part) -> History:
    try:
        return History.from_table(read_table(path, None))
    except ValueError as error:
        raise DamagedModelError(path, f"a history ({error})") from error
