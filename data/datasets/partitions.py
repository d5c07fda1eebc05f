"""The partition of a row in a dataset: its server and its day, within limits.

A monitor that sees forged packets sees any number of servers, and a text trace any number of days.
Each would get a file in every table, at some ten milliseconds and up to a megabyte of memory. So an
ingest keeps the :data:`SERVERS` servers with most traffic separate, in at most :data:`PARTITIONS`
partitions. Rows of other servers share the server :data:`OTHERS`, and rows of further days the day
of that name.
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
"""The most servers that an ingest keeps separate: more than any site's monitor watches."""

PARTITIONS = 1024
"""The most partitions of an ingest in each table: for one server, almost three years of days."""

OTHERS = "others"
"""The server, and the day, of all rows that are not kept separate."""

COUNTED = 1 << 16
"""The most servers whose rows are counted one by one: forged addresses may be any number."""

TRAFFIC = ("operations", "messages")
"""The tables whose rows are counted to find the servers with most traffic."""


class Partitions:
    """Chooses partitions for the rows of one ingest.

    `servers` are those to keep separate, if they are chosen already. Otherwise they are the first,
    until there are too many. Then a server with more than twice the traffic of the least one
    replaces it, so forged addresses that come first gain nothing. No server is displaced more often
    than its traffic doubles, so few files are begun in vain.
    """

    def __init__(self, servers: Collection[str] | None = None) -> None:
        self._chosen = servers is not None
        self._kept = set(servers or ())
        self._seen: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._places: set[_Place] = set()

    def meet(self, rows: Mapping[str, int]) -> None:
        """Count rows of traffic by server."""
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
        if len(self._seen) > COUNTED:
            self._drop_smallest()

    def _drop_smallest(self) -> None:
        """Add up the counts of all servers but half of `COUNTED`, those with most traffic."""
        by_traffic = sorted(self._seen.items(), key=lambda item: (item[0] in self._kept, item[1]))
        for server, rows in by_traffic[: -(COUNTED // 2)]:
            del self._seen[server]
            self._dropped.update(servers=1, rows=rows)

    def server(self, name: str) -> str:
        """Return the server name under which a server's rows stand from now on."""
        if not self._chosen and len(self._kept) < SERVERS:
            self._kept.add(name)
        return self.at_last(name)

    def at_last(self, name: str) -> str:
        """Return the server name under which a server's rows stand at the end."""
        return name if name in self._kept else OTHERS

    def day(self, server: str, day: str) -> str:
        """Return the day under which rows of a day stand, for a server as `server` names it."""
        where = server, day
        if where not in self._places and len(self._places) >= PARTITIONS:
            return OTHERS
        self._places.add(where)
        return day

    def traffic(self) -> dict[str, int]:
        """Return the rows of traffic of each server that is kept separate."""
        return {server: self._seen[server] for server in sorted(self._kept)}

    def others(self) -> dict[str, int]:
        """Return how many `servers` were not kept separate, and their `rows` of traffic.

        Beyond `COUNTED` servers, one that comes back may be counted again.
        """
        rest = [rows for server, rows in self._seen.items() if server not in self._kept]
        return {
            "servers": len(rest) + self._dropped["servers"],
            "rows": sum(rest) + self._dropped["rows"],
        }


def busiest(traffic: Mapping[str, int]) -> list[str]:
    """Return the servers to keep separate, by their rows of traffic."""
    return sorted(traffic, key=lambda server: (-traffic[server], server))[:SERVERS]


def rows_by_server(batch: pa.RecordBatch) -> dict[str, int]:
    """Return the number of rows of each server in a batch."""
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
    """Return rows whose long dictionaries hold no unused words.

    Unused words would be written, too.
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
