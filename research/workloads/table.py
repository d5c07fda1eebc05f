"""Planned rows as batches of the operations table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.generated import Mark, machine
from birthmark.data.schema import OPERATIONS
from birthmark.research.workloads.attributes import Shown, follow
from birthmark.research.workloads.columns import any_of, no_values, numbers, times, verifiers, words
from birthmark.research.workloads.objects import FSID
from birthmark.research.workloads.rows import (
    ACCESS,
    COMMIT,
    CREATE,
    FSSTAT,
    LINK,
    LOOKUP,
    NONE,
    OPS,
    READ,
    REMOVE,
    SETATTR,
    WRITE,
    Rows,
)
from birthmark.research.workloads.site import Site

_PORT, _CLIENT_PORT = 2049, 1022
_UNSTABLE = 0
_EXCLUSIVE, _UNCHECKED = 2, 0
_TO_SERVER_TIME = 1
_BLOCK = 4096  # bytes in which space is used
_BOOT = b"\x3b\xd3\x51\x00\x00\x00\x00\x01"
_VOLUME = 56_908_316_672  # bytes: one of CAMPUS's disk arrays of 53 GB


class OperationsTable:
    """Makes batches, in the order of replies; every call's machine name has the mark."""

    def __init__(self, site: Site, mark: Mark) -> None:
        self._site = site
        profile = site.profile
        hosts = range(len(site.hosts))
        self._server = pa.array([profile.server])
        self._transport = pa.array([profile.transport])
        self._clients = pa.array(
            [f"{profile.network}.{1 + i // 240}.{10 + i % 240}" for i in hosts]
        )
        self._machines = pa.array(
            [f"{host}.{machine(mark)}".encode() for host in site.hosts], pa.binary()
        )
        self._names = pa.array(site.names, pa.binary())
        self._nulls = no_values(0)  # made once: most columns have no value in any row
        self._xids = (np.arange(len(site.hosts)) * 0x0123_4567 + 0x1000_0000) & 0xFFFF_FFFF

    def batch(self, rows: Rows) -> pa.RecordBatch:
        """Return rows of `data.schema.OPERATIONS`; `rows` are in the order of their replies."""
        shown, directory = follow(rows, self._site.objects)
        columns = self._envelope(rows) | self._call(rows, shown, directory)
        columns |= self._reply(rows, shown)
        ok = rows["status"] == 0
        op = rows["op"]
        columns |= self._attributes(
            "", shown, shown.there & ok & (op != REMOVE), ok & any_of(op, WRITE, SETATTR)
        )
        changes = any_of(op, CREATE, REMOVE, LINK)
        columns |= self._attributes("dir_", directory, directory.there, changes & ok)
        if len(rows) > self._nulls.num_rows:
            self._nulls = no_values(len(rows))
        empty = self._nulls.slice(0, len(rows))
        arrays = [columns.get(each.name, empty[each.name]) for each in OPERATIONS]
        return pa.RecordBatch.from_arrays(arrays, schema=OPERATIONS)

    def _envelope(self, rows: Rows) -> dict[str, pa.Array]:
        """Return each call's time, hosts and user."""
        site, op, count = self._site, rows["op"], len(rows)
        everywhere, zeros = np.ones(count, bool), np.zeros(count, np.int32)
        for_user = op != FSSTAT  # clients send it as root, whatever the user (section 4.4.6)
        return {
            "time": times(rows["call"], everywhere),
            "reply_time": times(rows["reply"], everywhere),
            "server": words(zeros, self._server),
            "server_port": numbers(zeros + _PORT, everywhere, pa.uint16()),
            "client": words(rows["client"].astype(np.int32), self._clients),
            "client_port": numbers(zeros + _CLIENT_PORT, everywhere, pa.uint16()),
            "transport": words(zeros, self._transport),
            "version": numbers(zeros + 3, everywhere, pa.uint8()),
            "xid": numbers(self._next_xids(rows["client"]), everywhere, pa.uint32()),
            "op": words(op.astype(np.int32), pa.array(OPS)),
            "status": numbers(rows["status"], everywhere, pa.uint32()),
            "retransmits": numbers(zeros, everywhere, pa.uint32()),
            "duplicate_replies": numbers(zeros, everywhere, pa.uint32()),
            "short": pa.array(~everywhere),
            "uid": numbers(site.uids[rows["user"]] * for_user, everywhere, pa.uint32()),
            "gid": numbers(site.gids[rows["user"]] * for_user, everywhere, pa.uint32()),
            "machine": self._machines.take(pa.array(rows["client"])),
        }

    def _call(self, rows: Rows, shown: Shown, directory: Shown) -> dict[str, pa.Array]:
        """Return the arguments of each call."""
        handles, op, count = self._site.objects.handles, rows["op"], len(rows)
        transfer, made = any_of(op, READ, WRITE, COMMIT), op == CREATE
        bare = made & (rows["arg"] == NONE)
        by_name = any_of(op, LOOKUP, CREATE, REMOVE)
        to_now = numbers(np.full(count, _TO_SERVER_TIME), op == SETATTR, pa.uint8())
        return {
            "fh": handles(np.where(by_name, directory.of, shown.of), np.ones(count, bool)),
            "name": self._names_of(rows["name"], rows["name"] != NONE),
            "fh2": handles(directory.of, op == LINK),
            "offset": numbers(rows["offset"], transfer, pa.uint64()),
            "count": numbers(rows["count"] * (op != COMMIT), transfer, pa.uint32()),
            "stable": numbers(np.full(count, _UNSTABLE), op == WRITE, pa.uint8()),
            "how": numbers(np.where(bare, _EXCLUSIVE, _UNCHECKED), made, pa.uint8()),
            "create_verifier": verifiers(rows["call"], bare),
            "access": numbers(rows["arg"], op == ACCESS, pa.uint32()),
            "set_mode": numbers(rows["arg"], (made & ~bare) | (op == SETATTR), pa.uint32()),
            "set_atime_how": to_now,
            "set_mtime_how": to_now,
        }

    def _reply(self, rows: Rows, shown: Shown) -> dict[str, pa.Array]:
        """Return the results of each reply, except attributes."""
        op, count = rows["op"], len(rows)
        ok = rows["status"] == 0
        writes, stats = op == WRITE, op == FSSTAT
        end = rows["offset"] + rows["count"] >= shown.values["size"]
        boot = pa.array([_BOOT, None], pa.binary())
        free = _VOLUME // 3
        space = dict.fromkeys(("fs_free_bytes", "fs_available_bytes"), free)
        files = dict.fromkeys(("fs_free_files", "fs_available_files"), 2_000_000)
        fixed = {"fs_total_bytes": _VOLUME, **space, "fs_total_files": 3_000_000, **files}
        return {
            "new_fh": self._site.objects.handles(shown.of, ok & any_of(op, LOOKUP, CREATE)),
            "reply_count": numbers(rows["count"], any_of(op, READ, WRITE), pa.uint32()),
            "eof": pa.array(end, mask=op != READ),
            "reply_stable": numbers(np.full(count, _UNSTABLE), writes, pa.uint8()),
            "reply_verifier": boot.take(pa.array(np.where(any_of(op, WRITE, COMMIT), 0, 1))),
            "reply_access": numbers(rows["arg"] & 0x1F, op == ACCESS, pa.uint32()),
            "fs_invariant_seconds": numbers(np.zeros(count), stats, pa.uint32()),
            **{name: numbers(np.full(count, n), stats, pa.uint64()) for name, n in fixed.items()},
        }

    def _attributes(
        self, prefix: str, shown: Shown, at: Bools, changed: Bools
    ) -> dict[str, pa.Array]:
        """Return the columns of one set of attributes, `at` those rows, and those before."""
        still = {
            name: self._site.objects.columns[name][shown.of]
            for name in ("ftype", "mode", "owner", "group", "fileid")
        }
        values = still | shown.values
        used = -(-values["size"] // _BLOCK) * _BLOCK
        zeros = np.zeros(len(at), np.int64)
        values |= {"used": used, "rdev_major": zeros, "rdev_minor": zeros}
        values["fsid"] = np.full(len(at), FSID)
        columns = {}
        for name, column in values.items():
            kind = OPERATIONS.field(prefix + name).type
            where = changed if name.startswith("pre_") else at
            make = times if name.endswith("time") else numbers
            columns[prefix + name] = make(column, where, kind)
        return columns

    def _names_of(self, names: Ints, named: Bools) -> pa.Array:
        """Return names: of the site by index, of created files by slot."""
        own = np.flatnonzero(names < NONE)
        slots, places = np.unique(-2 - names[own], return_inverse=True)
        known = self._site.objects.names
        pool = pa.concat_arrays(
            [self._names, pa.array([known[slot] for slot in slots.tolist()], pa.binary())]
        )
        index = names.astype(np.int64)
        index[own] = len(self._names) + places
        return pool.take(pa.array(index, mask=~named))

    def _next_xids(self, clients: Any) -> Ints:
        """Return for each row the next transaction id of its client."""
        order = np.argsort(clients, kind="stable")
        counts = np.bincount(clients, minlength=len(self._xids))
        starts = np.cumsum(counts) - counts
        place = np.empty(len(clients), np.int64)
        place[order] = np.arange(len(clients)) - np.repeat(starts, counts)
        xids: Ints = (place + self._xids[clients]) & 0xFFFF_FFFF
        self._xids = (self._xids + counts) & 0xFFFF_FFFF
        return xids
