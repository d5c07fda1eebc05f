"""Slow and simple counts to compare with: row by row, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.samples import DAYS

PERIOD = 300_000_000


def rows(columns: list[str]) -> list[dict[str, Any]]:
    """Return the operations of the first bundled day; times as µs."""
    table = pq.read_table(DAYS[0], columns=columns)
    for name in ("time", "reply_time"):
        if name in columns:
            at = table.column_names.index(name)
            table = table.set_column(at, name, table[name].cast(pa.int64()))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


class Hierarchy:
    """Each file's directory and name, as shown by the names in a trace."""

    def __init__(self) -> None:
        self.parent: dict[bytes, tuple[bytes, bytes]] = {}
        self.at: dict[tuple[bytes, bytes], bytes] = {}
        self.directories: set[bytes] = set()
        self.roots: list[bytes] = []

    def name(self, directory: bytes, name: bytes, file: bytes) -> None:
        self.directories.add(directory)
        if name in (b".", b".."):
            return
        old = self.parent.get(file)
        if old is not None and self.at.get(old) == file:
            del self.at[old]
        self.parent[file], self.at[directory, name] = (directory, name), file

    def learn(self, row: dict[str, Any]) -> None:
        if row["status"] != 0 or row["fh"] is None:
            return
        fh, name, new = row["fh"], row["name"], row["new_fh"]
        if row["ftype"] == 2:
            self.directories.add(new or fh)
        match row["op"]:
            case "remove" | "rmdir":
                self.at.pop((fh, name), None)
            case "rename":
                file = self.at.pop((fh, name), None)
                if file is not None:
                    self.name(row["fh2"], row["name2"], file)
                else:
                    self.at.pop((row["fh2"], row["name2"]), None)
            case "link":
                self.name(row["fh2"], name, fh)
            case "fsinfo":
                self.roots.append(fh)
                self.directories.add(fh)
            case _ if name is not None and new is not None:
                self.name(fh, name, new)
        for entry in row["entries"] or []:
            if entry["fh"] is not None and entry["name"] not in (b".", b".."):
                if entry["ftype"] == 2:
                    self.directories.add(entry["fh"])
                self.name(fh, entry["name"], entry["fh"])

    def path(self, file: bytes) -> str:
        if file in self.parent:
            directory, name = self.parent[file]
            return self.path(directory).rstrip("/") + "/" + name.decode()
        return "/" if file in self.roots else "?"

    def above(self, file: bytes) -> list[bytes]:
        """Return the directories that a file counts for."""
        found = [file] if file in self.directories else []
        while file in self.parent:
            file = self.parent[file][0]
            found.append(file)
        return found


def by_directory() -> dict[tuple[str, str], int]:
    """Return how many operations of the day count for each directory, by path and procedure."""
    names = ["op", "status", "fh", "name", "fh2", "name2", "new_fh", "ftype", "entries"]
    day, tree = rows(names), Hierarchy()
    for row in day:
        tree.learn(row)
    found: dict[tuple[str, str], int] = defaultdict(int)
    for row in day:
        for directory in tree.above(row["new_fh"] or row["fh"]):
            found[tree.path(directory), row["op"]] += 1
    return found


def by_caller() -> dict[tuple[int, str, int, str], list[dict[str, Any]]]:
    """Return the operations of each period of 5 s, client, user and procedure."""
    names = ["time", "reply_time", "client", "uid", "op", "status", "reply_count", "retransmits"]
    found: dict[tuple[int, str, int, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows(names):
        start = row["time"] // 5_000_000 * 5_000_000
        found[start, row["client"], row["uid"], row["op"]].append(row)
    return found
