"""Which partition of a dataset a row belongs to: by its server and its day, as far as they are few.

A monitor that sees forged packets sees any number of servers, and text any number of days. Each
would have a file of its own in every table, at some ten milliseconds and up to a megabyte of memory
a file. So an ingest keeps :data:`SERVERS` servers apart, those with most traffic, and has
:data:`PARTITIONS` partitions; rows of other servers stand together as those of :data:`OTHERS`, and
rows of further days on the day of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import DAY

_Place = tuple[str, str]

SERVERS = 256
"""The most servers that an ingest keeps apart: more than any site's monitor watches."""

PARTITIONS = 1024
"""The most partitions of an ingest in each table: of one server, the days of almost three years."""

OTHERS = "others"
"""The server, and the day, of what is not kept apart."""

TRAFFIC = ("operations", "messages")
"""The tables whose rows are counted to find the servers with most traffic."""


class Partitions:
    """Chooses partitions for the rows of one ingest.

    `kept` are the servers that are kept apart, where they are chosen already. Otherwise they are
    the first, until there are too many; then one with more than twice the traffic of the least of
    them takes its place, so that who comes first with forged addresses gains nothing. No server is
    displaced more often than traffic doubles, and few files are begun in vain.
    """

    def __init__(self, kept: Collection[str] | None = None) -> None:
        self._chosen = kept is not None
        self._kept = set(kept or ())
        self._seen: Counter[str] = Counter()
        self._places: set[_Place] = set()

    def meet(self, rows: Mapping[str, int]) -> None:
        """Hear of so many rows of traffic by server."""
        self._seen.update(rows)
        if self._chosen:
            return
        new = sorted((s for s in rows if s not in self._kept), key=lambda s: (-self._seen[s], s))
        for server in new:
            if len(self._kept) >= SERVERS:
                least = min(self._kept, key=lambda s: (self._seen[s], s))
                if self._seen[server] <= 2 * self._seen[least]:
                    break
                self._kept.remove(least)
            self._kept.add(server)

    def server(self, name: str) -> str:
        """Return under which name rows of a server stand from now on."""
        if not self._chosen and len(self._kept) < SERVERS:
            self._kept.add(name)
        return self.at_last(name)

    def at_last(self, name: str) -> str:
        """Return under which name a server's rows stand in the end."""
        return name if name in self._kept else OTHERS

    def day(self, server: str, day: str) -> str:
        """Return on which day rows of a day stand, of a server as `server` names it."""
        where = server, day
        if where not in self._places and len(self._places) >= PARTITIONS:
            return OTHERS
        self._places.add(where)
        return day

    def traffic(self) -> dict[str, int]:
        """Return the rows of traffic of each server that is kept apart."""
        return {server: self._seen[server] for server in sorted(self._kept)}

    def others(self) -> dict[str, int]:
        """Return how many `servers` were not kept apart, and their `rows` of traffic."""
        rest = [rows for server, rows in self._seen.items() if server not in self._kept]
        return {"servers": len(rest), "rows": sum(rest)}


def busiest(traffic: Mapping[str, int]) -> list[str]:
    """Return the servers that are kept apart of those with so many rows of traffic."""
    return sorted(traffic, key=lambda server: (-traffic[server], server))[:SERVERS]


def rows_by_server(batch: pa.RecordBatch) -> dict[str, int]:
    """Return how many rows each server has in a batch."""
    servers = batch["server"]
    codes, counts = np.unique(np.asarray(servers.indices), return_counts=True)
    names = servers.dictionary.take(pa.array(codes)).to_pylist()
    return dict(zip(names, counts.tolist(), strict=True))


def partitions(
    batch: pa.RecordBatch, times: pa.Array, places: Partitions
) -> list[tuple[str, str, pa.RecordBatch]]:
    """Split rows by server and day of ``times``; the server's column goes into the path."""
    index = batch.schema.get_field_index("server")
    servers, micros = batch.column(index), times.cast(pa.int64())
    rest = batch.remove_column(index)
    codes, span = pc.min_max(servers.indices).as_py(), pc.min_max(micros).as_py()
    if codes["min"] == codes["max"] and span["min"] // DAY == span["max"] // DAY:
        server = places.server(servers[0].as_py())
        return [(server, places.day(server, _day(span["min"] // DAY)), _compact(rest))]
    rows = _by_place(servers, np.asarray(micros) // DAY, places)
    return [(*place, _compact(rest.take(pa.array(own)))) for place, own in rows.items()]


def _by_place(servers: pa.DictionaryArray, days: Ints, places: Partitions) -> dict[_Place, Ints]:
    """Return the numbers of the rows of each server and day, in their order."""
    codes, of_row = np.unique(np.asarray(servers.indices), return_inverse=True)
    names = [places.server(name) for name in servers.dictionary.take(pa.array(codes)).to_pylist()]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    first, span = int(days.min()), int(days.max()) - int(days.min()) + 1
    keys = np.array([known[name] for name in names])[of_row] * span + (days - first)
    pairs, of_row = np.unique(keys, return_inverse=True)
    labels, rows = list(known), dict[_Place, list[int]]()
    for number, pair in enumerate(pairs.tolist()):
        server = labels[pair // span]
        place = server, places.day(server, _day(pair % span + first))
        rows.setdefault(place, []).append(number)
    of_place = np.empty(len(pairs), np.int64)
    for place_number, numbers in enumerate(rows.values()):
        of_place[numbers] = place_number
    of_row = of_place[of_row]
    order = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[order], np.arange(len(rows)), "right")
    return dict(zip(rows, np.split(order, ends[:-1]), strict=True))


def _compact(part: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows whose dictionaries have no more words than are used, where they are long.

    A word that is not used would be written all the same.
    """
    for index, column in enumerate(part.columns):
        if pa.types.is_dictionary(column.type) and len(column.dictionary) > 64 + len(part):
            short = column.cast(column.type.value_type).dictionary_encode()
            part = part.set_column(index, part.schema.field(index), short)
    return part


def _day(days_since_epoch: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=days_since_epoch)).isoformat()
    except OverflowError as error:
        found = f"{days_since_epoch} days after 1970-01-01"
        raise ValueError(f"a time of the years 1 to 9999 was expected, found {found}") from error
