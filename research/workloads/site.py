"""The population of a generated trace at its start: users, hosts, directories, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import DAY
from birthmark.research.workloads.naming import word
from birthmark.research.workloads.objects import DIRECTORY, Objects
from birthmark.research.workloads.profile import Kind, Profile

LEAST_USERS = 24
"""The fewest users of a site, however low its rate."""


class Site:
    """A site's population, as many users as its rate asks for.

    Attributes:
        objects: the files and directories.
        users: login names; `uids` and `gids` go with them.
        hosts: names of the clients.
        names: names of older objects: first the old files, in the order of their slots from
            `first_file`, then `missing` names.
        directories: slots by word, one for each user, or one for all.
    """

    def __init__(self, profile: Profile, rate: float, now: int, rng: np.random.Generator) -> None:
        self.profile, self.objects = profile, Objects()
        count = max(LEAST_USERS, round(profile.users * rate))
        self.users = [word(serial)[:6] + str(serial) for serial in range(count)]
        self.uids = profile.first_uid + np.arange(count)
        self.gids = 100 + np.arange(count) % 7
        ranks = np.arange(1.0, count + 1) ** -profile.activity
        self._user_parts = np.cumsum(ranks / ranks.sum())
        own = round(profile.workstations * count)
        self.hosts = profile.hosts + [f"ws{index}" for index in range(own)]
        self._own = own
        self._now, self._rng = now, rng
        self.directories = self._make_directories()
        self.names: list[bytes] = []
        self._make_files()
        self.missing = np.arange(len(self.names), len(self.names) + len(profile.missing))
        self.names += [name.encode() for name in profile.missing]

    def draw_users(self, rng: np.random.Generator, count: int) -> Ints:
        """Draw users, the busier the more often."""
        users = np.searchsorted(self._user_parts, rng.random(count))
        drawn: Ints = np.minimum(users, len(self.users) - 1)
        return drawn

    def clients_of(self, rng: np.random.Generator, users: Ints, hosts: list[str] | None) -> Ints:
        """Draw the clients of users: half of the time their own, if they have one.

        `hosts` restricts them to the shared clients of those names.
        """
        shared = self.profile.hosts
        chosen = np.array([shared.index(host) for host in hosts or shared])
        clients = chosen[rng.integers(len(chosen), size=len(users))]
        if hosts is None and self._own:
            at_desk = rng.random(len(users)) < 0.5
            clients = np.where(at_desk, len(shared) + users % self._own, clients)
        return clients

    def directory(self, name: str, users: Ints) -> Ints:
        """Return the slots of the directories of that name, shared or each user's own."""
        slots = self.directories[name]
        return slots[users] if len(slots) > 1 else np.full(len(users), slots[0])

    def draw_files(self, rng: np.random.Generator, users: Ints, use: str) -> Ints:
        """Draw old files that users read or write (`use`); return their slots."""
        weights = np.array([getattr(kind, use) for kind in self.profile.kinds])
        drawn = rng.choice(len(weights), size=len(users), p=weights / weights.sum())
        counts = np.array([kind.count for kind in self.profile.kinds])[drawn]
        personal = np.array([not kind.shared for kind in self.profile.kinds])[drawn]
        member = (rng.random(len(users)) * counts).astype(np.int64)
        files: Ints = self._first[drawn] + np.where(personal, users * counts, 0) + member
        return files

    def _make_directories(self) -> dict[str, Ints]:
        users = len(self.users)
        made = {"root": self._directory(1, 0)}
        for name in self.profile.shared:
            made[name] = self._directory(1, 0)
        made["home"] = self._directory(users, self.uids)
        for name in self.profile.private:
            made[name] = self._directory(users, self.uids)
        return made

    def _directory(self, count: int, owner: Any) -> Ints:
        times = self._ages(count)
        return self.objects.add(
            count, ftype=DIRECTORY, mode=0o755, owner=owner, group=100, nlink=2, size=4096,
            atime=times, mtime=times, ctime=times,
        )  # fmt: skip

    def _make_files(self) -> None:
        parents, firsts = [], []
        for kind in self.profile.kinds:
            users = np.repeat(np.arange(1 if kind.shared else len(self.users)), kind.count)
            slots = self._files(kind, users)
            firsts.append(slots[0])
            parents.append(self.directory(kind.directory, users))
            self.names += [
                kind.name.format(w=word(slot).capitalize(), n=slot).encode()
                for slot in slots.tolist()
            ]
        self._first = np.array(firsts)
        self.first_file = int(firsts[0])
        self.parents: npt.NDArray[Any] = np.concatenate(parents)

    def _files(self, kind: Kind, users: Ints) -> Ints:
        low, high = np.log(kind.size)
        sizes = np.exp(self._rng.uniform(low, high, len(users))).astype(np.int64)
        times = self._ages(len(users))
        return self.objects.add(
            len(users), mode=kind.mode, owner=self.uids[users], group=self.gids[users],
            size=sizes, atime=times, mtime=times, ctime=times,
        )  # fmt: skip

    def _ages(self, count: int) -> Ints:
        return self._now - self._rng.integers(DAY, 90 * DAY, count)
