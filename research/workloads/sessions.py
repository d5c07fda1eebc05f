"""Work on older files: looked up, checked, read and written.

In a session one user opens one file: lookups, access and getattr calls, as many as a client's
caches let through, then a run of reads or writes of one size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import DAY
from birthmark.research.workloads.clock import Window
from birthmark.research.workloads.profile import Run
from birthmark.research.workloads.rows import (
    COMMIT,
    FSSTAT,
    LOOKUP,
    NO_ENTRY,
    NONE,
    OPS,
    READ,
    REMOVE,
    WRITE,
    Rows,
    latencies,
    mark_last,
    own_name,
    rows_of,
)
from birthmark.research.workloads.site import Site

_OPENING = ("lookup", "access", "getattr")
_ACCESS_BITS = 0x1F
_TRIAL = 20_000  # sample of sessions to estimate the mean length of a run


class Sessions:
    """Plans as many sessions as the profile's mix needs besides the new files' operations.

    `births` is the number of operations of each name per created file.
    """

    def __init__(self, site: Site, births: Mapping[str, float]) -> None:
        self._site, self._births = site, births
        self._serial = 0
        trial = np.random.default_rng(0)
        users = site.draw_users(trial, _TRIAL)
        self._lengths = {op: float(self._draw(op, users, trial)[2].mean()) for op in (READ, WRITE)}

    def plan(self, window: Window, rng: np.random.Generator) -> list[Rows]:
        """Return the operations of all sessions that begin within `window`."""
        left = self._left(window)
        runs = {op: left[OPS[op]] / length for op, length in self._lengths.items()}
        opening = {op: left[op] / max(sum(runs.values()), 1e-9) for op in _OPENING}
        planned = [
            rows
            for op, expected in runs.items()
            for rows in self._runs(op, int(rng.poisson(expected)), opening, window, rng)
        ]
        other = self._site.profile.other
        planned += [self._alone(COMMIT, left["other"] * other.get("commit", 0), window, rng)]
        planned += [self._alone(FSSTAT, left["other"] * other.get("fsstat", 0), window, rng)]
        return [*planned, self._removals(left["remove"], window, rng)]

    def _left(self, window: Window) -> dict[str, float]:
        creates = window.operations["create"]
        expected = window.operations
        return {op: max(n - creates * self._births.get(op, 0), 0) for op, n in expected.items()}

    def _runs(
        self, op: int, count: int, opening: Mapping[str, float], window: Window,
        rng: np.random.Generator,
    ) -> list[Rows]:  # fmt: skip
        """Return sessions with runs of `op`, each rows first."""
        users = self._site.draw_users(rng, count)
        clients = self._site.clients_of(rng, users, None)
        files, size, length = self._draw(op, users, rng)
        start = rng.integers(window.start, window.end, count)
        rows = [
            self._opening(
                each, rng.poisson(opening[each], count), files, users, clients, start, rng
            )
            for each in _OPENING
        ]
        return [*rows, self._run(op, length, size, files, users, clients, start, rng)]

    def _draw(self, op: int, users: Ints, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
        """Draw a file for each user, the size of a transfer, and how many transfers there are.

        A run ends where the file does.
        """
        run: Run = getattr(self._site.profile, OPS[op])
        files = self._site.draw_files(rng, users, OPS[op])
        size = rng.choice(run.sizes, size=len(users), p=run.shares)
        blocks = -(-self._site.objects.columns["size"][files] // size)
        length = np.minimum(rng.geometric(1 / run.length, len(users)), blocks.clip(min=1))
        return files, size, length

    def _opening(
        self, name: str, times: Ints, files: Ints, users: Ints, clients: Ints, start: Ints,
        rng: np.random.Generator,
    ) -> Rows:  # fmt: skip
        """Return calls of one kind at the beginning of sessions, `times` for each."""
        op = OPS.index(name)
        session = np.repeat(np.arange(len(times)), times)
        reply = start[session] + rng.integers(200, 20_000, len(session))
        rows = rows_of(
            op, len(session), reply=reply, call=reply - latencies(rng, op, len(session)),
            obj=files[session], user=users[session], client=clients[session], arg=_ACCESS_BITS,
        )  # fmt: skip
        if op == LOOKUP:
            self._look_up(rows, rng)
        return rows

    def _look_up(self, rows: Rows, rng: np.random.Generator) -> None:
        """Give lookups their names: of the files used, or of missing ones."""
        site = self._site
        files = rows["obj"] - site.first_file
        rows["dir"], rows["name"] = site.parents[files], files
        missed = rng.random(len(rows)) < site.profile.missed
        rows["name"][missed] = rng.choice(site.missing, missed.sum())
        rows["obj"][missed], rows["status"][missed] = NONE, NO_ENTRY

    def _run(
        self, op: int, length: Ints, size: Ints, files: Ints, users: Ints, clients: Ints,
        start: Ints, rng: np.random.Generator,
    ) -> Rows:  # fmt: skip
        """Return the transfers of sessions: consecutive, from some offset in the file."""
        session = np.repeat(np.arange(len(length)), length)
        place = np.arange(len(session)) - np.repeat(np.cumsum(length) - length, length)
        bytes_ = self._site.objects.columns["size"][files].clip(min=1)
        blocks = -(-bytes_ // size)
        first = (rng.random(len(length)) * (blocks - length + 1)).astype(np.int64)
        block = first[session] + place
        offset = block * size[session]
        pace = rng.integers(400, 3_000, len(length))
        reply = start[session] + 21_000 + place * pace[session] + rng.integers(0, 300, len(session))
        return rows_of(
            op, len(session), reply=reply, call=reply - latencies(rng, op, len(session)),
            obj=files[session], user=users[session], client=clients[session], offset=offset,
            count=np.minimum(size[session], bytes_[session] - offset),
        )  # fmt: skip

    def _alone(self, op: int, expected: float, window: Window, rng: np.random.Generator) -> Rows:
        """Return calls that belong to no session: commit of a file, fsstat of the root."""
        count = int(rng.poisson(expected))
        users = self._site.draw_users(rng, count)
        objects = self._site.draw_files(rng, users, "write")
        if op == FSSTAT:
            objects = np.full(count, self._site.directories["root"][0])
        reply = rng.integers(window.start, window.end, count)
        return rows_of(
            op, count, reply=reply, call=reply - latencies(rng, op, count), obj=objects, user=users,
            client=self._site.clients_of(rng, users, None),
        )  # fmt: skip

    def _removals(self, expected: float, window: Window, rng: np.random.Generator) -> Rows:
        """Return removals of older files, each looked up first."""
        site, count = self._site, int(rng.poisson(expected))
        users = site.draw_users(rng, count)
        slots = self._strangers(users, window, rng)
        start = rng.integers(window.start, window.end, count)
        common = {
            "user": users, "client": site.clients_of(rng, users, None), "obj": slots,
            "dir": site.directory("home", users), "name": own_name(slots),
        }  # fmt: skip
        looked, removed = start + 400_000, start + 900_000
        waits = [latencies(rng, op, count) for op in (LOOKUP, REMOVE)]
        rows = [
            rows_of(LOOKUP, count, **common, reply=looked, call=looked - waits[0]),
            rows_of(REMOVE, count, **common, reply=removed, call=removed - waits[1]),
        ]
        return mark_last(np.concatenate(rows))

    def _strangers(self, users: Ints, window: Window, rng: np.random.Generator) -> Ints:
        """Make older files of users, which the trace has not named yet."""
        site, count = self._site, len(users)
        old = window.start - DAY
        slots = site.objects.add(
            count, mode=0o644, owner=site.uids[users], group=site.gids[users],
            size=rng.integers(0, 20_000, count), atime=old, mtime=old, ctime=old,
        )  # fmt: skip
        serials = range(self._serial, self._serial + count)
        self._serial += count
        made = {s: b"old-%d" % n for s, n in zip(slots.tolist(), serials, strict=True)}
        site.objects.names.update(made)
        return slots
