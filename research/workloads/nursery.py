"""Plan created files: time, creator, and all operations on each."""

from __future__ import annotations

import numpy as np

from birthmark.data.common.arrays import Ints
from birthmark.research.workloads import naming
from birthmark.research.workloads.births import Births
from birthmark.research.workloads.clock import Window
from birthmark.research.workloads.locks import lock_rows
from birthmark.research.workloads.profile import LIVES, SIZES, FileClass
from birthmark.research.workloads.rows import NEVER, Rows, mark_last
from birthmark.research.workloads.scratch import file_rows
from birthmark.research.workloads.site import Site


class Nursery:
    """Plans the lives of new files, window by window."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._serial = 0
        self._locked: dict[tuple[str, int], int] = {}
        self._locks: dict[str, Ints] = {}
        for lock in sorted({each.lock for each in site.profile.files if each.lock}):
            self._locks[lock] = len(site.names) + np.arange(len(site.users))
            site.names += [lock.format(user=user).encode() for user in site.users]
        parts = np.array([each.share for each in site.profile.files])
        self._parts = parts / parts.sum()

    def plan(self, window: Window, rng: np.random.Generator) -> list[Rows]:
        """Return the operations of all files whose first call is within `window`."""
        counts = rng.multinomial(rng.poisson(window.operations["create"]), self._parts)
        classes = self.site.profile.files
        return [
            self._plan_class(kind, int(count), window, rng)
            for kind, count in zip(classes, counts, strict=True)
            if count
        ]

    def _plan_class(
        self, kind: FileClass, count: int, window: Window, rng: np.random.Generator
    ) -> Rows:
        start = np.sort(rng.integers(window.start, window.end, count))
        life, size = _lifespans(kind, count, rng), _sizes(kind, count, rng)
        use = rng.choice(3, size=count, p=_shares(kind.uses))
        users = self.site.draw_users(rng, count)
        if kind.lock:
            users = self._unlocked(users, start, life, kind.lock)
            placed = users >= 0
            start, life, size, use, users = (
                each[placed] for each in (start, life, size, use, users)
            )
        births = self._bear(kind, start, life, size, use, users, rng)
        if kind.lock:
            return mark_last(lock_rows(births, self._locks[kind.lock][users], rng))
        return mark_last(file_rows(births, rng))

    def _bear(
        self, kind: FileClass, start: Ints, life: Ints, size: Ints, use: Ints, users: Ints,
        rng: np.random.Generator,
    ) -> Births:  # fmt: skip
        site = self.site
        clients = site.clients_of(rng, users, kind.hosts)
        slots = site.objects.add(
            len(users), mode=kind.mode, owner=site.uids[users], group=site.gids[users]
        )
        serials = range(self._serial, self._serial + len(users))
        self._serial += len(users)
        logins = [site.users[user] for user in users.tolist()]
        hosts = [site.hosts[client] for client in clients.tolist()]
        made = naming.names(kind.name, serials, logins, hosts)
        site.objects.names.update(zip(slots.tolist(), made, strict=True))
        directories = site.directory(kind.directory, users)
        return Births(start, life, size, use, users, clients, directories, slots, kind.mode)

    def _unlocked(self, users: Ints, start: Ints, life: Ints, lock: str) -> Ints:
        """Return for each birth a user who can take that lock then, and mark it as held.

        It is the given user or a following one; -1 if all hold it.
        """
        free, margin, total = self._locked, 100_000, len(self.site.users)
        chosen = np.full(len(users), -1)
        for index, (user, now, span) in enumerate(
            zip(users.tolist(), start.tolist(), life.tolist(), strict=True)
        ):
            for step in range(total):
                key = (lock, (user + step) % total)
                if free.get(key, 0) <= now:
                    free[key] = now + span + margin
                    chosen[index] = key[1]
                    break
        return chosen


def _shares(parts: list[float]) -> list[float]:
    total = sum(parts)
    return [part / total for part in parts]


def _lifespans(kind: FileClass, count: int, rng: np.random.Generator) -> Ints:
    """Draw lifespans, microseconds: log-uniform within one of LIVES."""
    drawn = rng.choice(len(LIVES), size=count, p=_shares(kind.lives))
    low = np.array([bound[0] or 1.0 for bound in LIVES])[drawn]
    high = np.array([bound[1] or 1.0 for bound in LIVES])[drawn]
    if kind.lock:
        high = np.minimum(high, 240.0)  # nobody waits longer for a lock before breaking it
    seconds = np.exp(rng.uniform(np.log(low), np.log(high)))
    return np.where(drawn == len(LIVES) - 1, NEVER, (seconds * 1e6).astype(np.int64))


def _sizes(kind: FileClass, count: int, rng: np.random.Generator) -> Ints:
    """Draw final sizes, bytes: log-uniform within one of SIZES."""
    drawn = rng.choice(len(SIZES), size=count, p=_shares(kind.sizes))
    low, high = (np.array([max(bound[side], 1) for bound in SIZES])[drawn] for side in (0, 1))
    sizes = np.exp(rng.uniform(np.log(low), np.log(high))).astype(np.int64)
    return np.where(drawn == 0, 0, sizes.clip(low, high))
