"""The records of a dataset's ingests: the traces read, the counts, and the files written.

    ingests/0001.json           the record of the first; `written` names its files
     .ingest-0002/               files of the second ingest, running or killed, before the rename
    .ingest-0002/record.json    its record, written when its files are being renamed

A record is renamed last. So a file that no record names is not the dataset's, whenever its ingest
was killed, and the next ingest removes it. A record without `written` predates that member: it
stands for all tables' files that bear its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from birthmark.data.common import durable

FOLDER = "ingests"
_ASIDE = ".ingest-"
_RECORD = "record.json"
_NUMBERED = (f"{FOLDER}/*.json", "quarantine/*.jsonl", "*/server=*/day=*/*.parquet")


def records(directory: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a dataset by ingest number, in ascending order.

    Raises:
        FileNotFoundError: the directory is no dataset.
        ValueError: a record is damaged.
    """
    folder = directory / FOLDER
    if not folder.is_dir():
        raise FileNotFoundError(f"{directory}: no dataset: expected a directory {FOLDER}/ in it")
    return {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}


def table_files(directory: Path, table: str) -> list[Path]:
    """Return the files of a table that complete ingests have written, ordered by path.

    Raises:
        FileNotFoundError: the directory is no dataset, or lacks a file that a record names.
        ValueError: a record is damaged.
    """
    content_by_number = records(directory)
    found = [
        _there(directory, name, number)
        for number, record in content_by_number.items()
        for name in record.get("written", ())
        if name.startswith(f"{table}/")
    ]
    older = {number for number, record in content_by_number.items() if "written" not in record}
    if older:
        found += [p for p in (directory / table).rglob("*.parquet") if _number(p) in older]
    return sorted(found, key=str)


def next_number(directory: Path) -> str:
    """Return the number of a dataset's next ingest, above that of every record and file."""
    numbers = [_number(path) for pattern in _NUMBERED for path in directory.glob(pattern)]
    return f"{max(map(int, filter(str.isdecimal, numbers)), default=0) + 1:04d}"


def staging_directory(directory: Path, number: str) -> Path:
    """Return the directory in which an ingest writes its files before they are renamed."""
    return directory / f"{_ASIDE}{number}"


def publish(
    directory: Path, number: str, places: Mapping[Path, str], content: Mapping[str, Any]
) -> None:
    """Rename staged files into a dataset, and their record last.

    The caller must hold the dataset's lock. Each step is on disk before a later one relies on it.

    Args:
        directory: the dataset's.
        number: the ingest's.
        places: the name in the dataset of each file; no file there has it.
        content: the record, without `written`.
    """
    record = staging_directory(directory, number) / _RECORD
    for path in places:
        durable.sync(path)
    record_content = {**content, "written": sorted(places.values())}
    durable.write_text(record, json.dumps(record_content, indent=2) + "\n")
    durable.sync(directory)
    for path, name in places.items():
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    (directory / FOLDER).mkdir(exist_ok=True)
    changed = {Path(), *(above for name in places.values() for above in Path(name).parents)}
    for folder in sorted(changed, reverse=True):
        durable.sync(directory / folder)
    durable.rename(record, directory / FOLDER / f"{number}.json")


def clear(directory: Path) -> None:
    """Remove the remains of incomplete ingests. The caller must hold the dataset's lock."""
    for left in directory.glob(f"{_ASIDE}*"):
        if (left / _RECORD).exists():
            for name in _read(left / _RECORD)["written"]:
                _take_back(directory / name, directory)
            durable.remove_empty(directory / FOLDER, directory)
        durable.remove(left)


def _take_back(path: Path, dataset: Path) -> None:
    """Remove a file that was renamed into the dataset, and the directories made for it."""
    if path.exists():
        path.unlink()
    durable.remove_empty(path.parent, dataset)


def _there(directory: Path, name: str, number: str) -> Path:
    path = directory / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: missing, although {FOLDER}/{number}.json lists it")
    return path


def _read(record: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(record.read_bytes())
        outside = [name for name in content.get("written", ()) if not _is_inside(name)]
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"{record}: expected the record of an ingest, JSON: {error}") from error
    if outside:
        raise ValueError(f"{record}: expected names of files in the dataset, found {outside[0]}")
    return content


def _is_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _number(path: Path) -> str:
    """Return the number of a file's ingest: for ``0001-2.parquet`` it is 0001."""
    return re.split(r"[.-]", path.name)[0]
