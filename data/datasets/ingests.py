"""The records of a dataset's ingests: what each read and counted, and which files it wrote.

    ingests/0001.json           the record of the first; `written` names its files
    .ingest-0002/               what the second, at work still or killed, has written aside
    .ingest-0002/record.json    its record, once its files are given their places

A record gets its place last. A file that none names is therefore not the dataset's, whenever its
ingest was killed, and the next one removes it. A record without `written` is of before files were
named: it stands for all tables' files that bear its number.
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
    """Return the records of a dataset by the numbers of their ingests, in the order of these.

    Raises:
        FileNotFoundError: the directory is no dataset.
        ValueError: a record is damaged.
    """
    folder = directory / FOLDER
    if not folder.is_dir():
        raise FileNotFoundError(f"{directory}: no dataset: expected a directory {FOLDER}/ in it")
    return {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}


def table_files(directory: Path, table: str) -> list[Path]:
    """Return the files of a table that complete ingests have written, in the order of their paths.

    Raises:
        FileNotFoundError: the directory is no dataset, or lacks a file that a record names.
        ValueError: a record is damaged.
    """
    told = records(directory)
    found = [
        _there(directory, name, number)
        for number, record in told.items()
        for name in record.get("written", ())
        if name.startswith(f"{table}/")
    ]
    older = {number for number, record in told.items() if "written" not in record}
    if older:
        found += [p for p in (directory / table).rglob("*.parquet") if _number(p) in older]
    return sorted(found, key=str)


def next_number(directory: Path) -> str:
    """Return the number of a dataset's next ingest: no record and no file bears it or a higher."""
    taken = [_number(path) for pattern in _NUMBERED for path in directory.glob(pattern)]
    return f"{max(map(int, filter(str.isdecimal, taken)), default=0) + 1:04d}"


def aside(directory: Path, number: str) -> Path:
    """Return the directory in which an ingest writes what has no place in the dataset yet."""
    return directory / f"{_ASIDE}{number}"


def publish(
    directory: Path, number: str, places: Mapping[Path, str], content: Mapping[str, Any]
) -> None:
    """Give files written aside their places in a dataset, and last their record its own.

    Only who is alone there may. Each step is on the disk before the next that relies on it.

    Args:
        directory: the dataset's.
        number: the ingest's.
        places: the name in the dataset of each file; no file there has it.
        content: what the record tells besides `written`.
    """
    record = aside(directory, number) / _RECORD
    for path in places:
        durable.sync(path)
    told = {**content, "written": sorted(places.values())}
    durable.write_text(record, json.dumps(told, indent=2) + "\n")
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
    """Remove what ingests that were not completed have left. Only who is alone there may."""
    for left in directory.glob(f"{_ASIDE}*"):
        if (left / _RECORD).exists():
            for name in _read(left / _RECORD)["written"]:
                _take_back(directory / name, directory)
            durable.remove_empty(directory / FOLDER, directory)
        durable.remove(left)


def _take_back(path: Path, dataset: Path) -> None:
    """Remove a file, if it was given its place, and the directories that were made for it."""
    if path.exists():
        path.unlink()
    durable.remove_empty(path.parent, dataset)


def _there(directory: Path, name: str, number: str) -> Path:
    path = directory / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file: {FOLDER}/{number}.json names it")
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
    """Return the number of the ingest that a file is called by: of ``0001-2.parquet`` 0001."""
    return re.split(r"[.-]", path.name)[0]
