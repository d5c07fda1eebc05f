"""The registry of trained models: complete versions, and a pointer to the published one.

    <registry>/versions/<version>/manifest.json   training data, figures, checksums
    <registry>/versions/<version>/...             its parts
    <registry>/current                            the published version's name, and a newline
    <registry>/history                            earlier published versions, one name a line
    <registry>/pinned                             the pinned version, if any
    <registry>/withdrawn                          the newest version, after a rollback from it

A version can be refreshed (`Registry.refresh`): a refresh is a complete version, too, and is named
after the version that was trained. `versions` has those that were trained, `refreshes` the others.

A version is written under a temporary name and appears atomically; then the pointer is replaced. So
a crash at any instant leaves the previous version published, and readers need no lock. `storage`
has the guarantees behind this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from birthmark.training.registry import manifests
from birthmark.training.registry.manifests import (
    FORMAT,
    MANIFEST,
    VERSION,
    RegistryError,
    base_version,
    is_refresh,
)
from birthmark.training.registry.storage import LocalStorage, Storage

__all__ = [
    "FORMAT",
    "MANIFEST",
    "Place",
    "Registry",
    "RegistryError",
    "is_refresh",
    "is_remote",
    "with_refresh",
]

_TIME = "%Y%m%dT%H%M%SZ"
_REMEMBERED = 100
"""Greatest number of earlier published versions in the history."""

KEPT_REFRESHES = 10
"""Number of the newest refreshes that are kept."""


def _now() -> datetime:
    return datetime.now(UTC)


def is_remote(place: Path | str) -> bool:
    """Return whether a registry's place is a URI, not a path."""
    return "://" in str(place)


Place = Annotated[
    Path | str, AfterValidator(lambda place: place if is_remote(place) else Path(place))
]
"""A setting: a registry's directory, or the URI of an object store."""


class Registry:
    """The versions of a model (see the module for the layout).

    Parameters
    ----------
    place : a directory, which the first `publish` or `store` makes; or pyarrow's URI of an object
        store (``s3://bucket/path``).
    clock : returns the time (UTC) that names a new version.
    cache : the directory of downloads from an object store; see `object_store`.

    """

    def __init__(
        self,
        place: Path | str,
        clock: Callable[[], datetime] = _now,
        cache: Path | None = None,
    ) -> None:
        self._storage: Storage
        if is_remote(place):
            from birthmark.training.registry.object_store import (
                RemoteStorage,  # imported only for URIs
            )

            self._storage = RemoteStorage(str(place), cache)
        else:
            self._storage = LocalStorage(Path(place))
        self._clock = clock

    def __repr__(self) -> str:
        return f"<Registry at {self.place}>"

    @property
    def place(self) -> str:
        """The place, for messages."""
        return str(self._storage)

    def missing(self) -> str | None:
        """Return a message if the directory does not exist, with a suggestion; else None."""
        return self._storage.missing()

    @property
    def path(self) -> Path:
        """The registry's directory; raises `RegistryError` for an object store."""
        if not isinstance(self._storage, LocalStorage):
            raise RegistryError(f"{self.place}: expected a registry in a directory")
        return self._storage.path

    def publish(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        """Store a new version and make it the current one; return its name.

        `write_parts` writes the parts into the empty directory that it is given. `manifest`
        describes them; the registry adds `format`, `version`, `created` and `parts`. Raises
        `RegistryError`, with nothing stored, while a version is pinned.
        """
        with self._storage.writing():
            self._may_become_current(None)
            version = self._add(write_parts, manifest)
            self._advance(version)
        return version

    def store(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        """Store a new version as `publish` does, without publishing it."""
        with self._storage.writing():
            return self._add(write_parts, manifest)

    def refresh(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        """Store a refresh of the published version and make it the current one; return its name.

        `manifest` is that of the version that was trained, with changes. Older refreshes than the
        last `KEPT_REFRESHES` are removed. Raises `RegistryError`, with nothing stored, if another
        version is published, a version is pinned, or somebody went back from a refresh.
        """
        version = manifest["version"]
        with self._storage.writing():
            self._may_become_current(None)
            self._may_be_refreshed(version)
            last = [int(name[len(version) + 1 :][:5]) for name in self._refreshes_of(version)[-1:]]
            refresh = self._add(write_parts, manifest, f"{version}.{sum(last) + 1:05}")
            self._advance(refresh)
            for old in self.refreshes()[:-KEPT_REFRESHES]:
                self._storage.discard(old)
        return refresh

    def _may_be_refreshed(self, version: str) -> None:
        if self.base() != version:
            published = self.base()
            raise RegistryError(f"{self.place}: expected {version} published, found {published}")
        withdrawn = self.withdrawn() or ""
        if is_refresh(withdrawn) and base_version(withdrawn) == version:
            raise RegistryError(f"{self.place}: {withdrawn} was withdrawn: no refresh replaces it")

    def make_current(self, version: str) -> None:
        """Publish a stored `version`, if it is intact and no other is pinned."""
        self.verify(version)
        with self._storage.writing():
            self._may_become_current(version)
            self._advance(version)

    def rollback(self, version: str | None = None) -> str:
        """Publish an earlier `version` again (None: the previous one), if it is intact.

        Return its name. Versions published after it leave the history.
        """
        with self._storage.writing():
            if version is None and (version := self.previous()) is None:
                raise RegistryError(f"{self.place}: expected an earlier version, found none")
            self.verify(version)
            self._may_become_current(version)
            if self.base() == self.versions()[-1]:
                self._storage.write("withdrawn", f"{self.current()}\n".encode())
            history = self._history()
            if version not in history:
                self._advance(version)
            else:
                self._storage.write("current", (version + "\n").encode())
                last = len(history) - 1 - history[::-1].index(version)
                self._remember(history[:last])
        return version

    def pin(self, version: str | None = None) -> str:
        """Publish `version` (None: the current one), and no other until `unpin`.

        Return its name.
        """
        version = version or self.published()
        self.verify(version)
        with self._storage.writing():
            self._storage.write("pinned", (version + "\n").encode())
            self._advance(version)
        return version

    def unpin(self) -> None:
        """Allow other versions to be published again."""
        with self._storage.writing():
            self._storage.remove("pinned")

    def prune(self, keep: int, dry_run: bool = False) -> list[str]:
        """Remove all but the newest `keep` versions; return which, oldest first.

        The current, the pinned and the previous version always stay, and so does the version that
        the current one's card compares with.
        """
        if dry_run:
            return self._prunable(keep)
        with self._storage.writing():
            going = self._prunable(keep)
            for version in going:
                for refresh in self._refreshes_of(version):
                    self._storage.discard(refresh)
                self._storage.discard(version)
        return going

    def _prunable(self, keep: int) -> list[str]:
        stored, current, pinned = self.versions(), self.base(), self.pinned()
        staying = {
            current,
            pinned and base_version(pinned),
            self.previous(),
            None if current is None else self._compared_with(current),
            *stored[max(0, len(stored) - keep) :],
        }
        return [version for version in stored if version not in staying]

    def current(self) -> str | None:
        """Return the published version's name; None if there is none."""
        return self._name_in("current")

    def base(self) -> str | None:
        """Return the published version, or the one that it refreshes; None if there is none."""
        current = self.current()
        return None if current is None else base_version(current)

    def published(self) -> str:
        """Return the published version's name; raise `RegistryError` if there is none."""
        if (version := self.current()) is None:
            raise RegistryError(f"{self.place}: expected a published version, found none")
        return version

    def pinned(self) -> str | None:
        """Return the name of the pinned version, or None."""
        return self._name_in("pinned")

    def withdrawn(self) -> str | None:
        """Return the newest version from which `rollback` went back, or None."""
        return self._name_in("withdrawn")

    def previous(self) -> str | None:
        """Return the version published before the current one, to which `rollback` goes."""
        stored, current = self.versions(), self.current()
        for version in reversed(self._history()):
            if version != current and version in stored:
                return version
        if self._storage.read("history") is None:  # older registries have no history
            older = [version for version in stored if current and version < current]
            candidates = (v for v in reversed(older) if not _is_set_aside(self.manifest(v)))
            return next(candidates, None)
        return None

    def versions(self) -> list[str]:
        """Return the names of all versions but refreshes, oldest first."""
        return sorted(name for name in self._names() if not is_refresh(name))

    def refreshes(self) -> list[str]:
        """Return the names of all refreshes, oldest first."""
        return sorted(name for name in self._names() if is_refresh(name))

    def _refreshes_of(self, version: str) -> list[str]:
        return [name for name in self.refreshes() if base_version(name) == version]

    def _names(self) -> list[str]:
        return [name for name in self._storage.versions() if VERSION.fullmatch(name)]

    def directory(self, version: str) -> Path:
        """Return a local directory with the parts and the manifest of `version`.

        A version in an object store is downloaded and verified at the first call.
        """
        path = None
        if VERSION.fullmatch(version):
            path = self._storage.local(version, lambda copy: manifests.check(copy, version))
        if path is None:
            raise RegistryError(f"{self._storage.at('versions')}: holds no version {version!r}")
        return path

    def manifest(self, version: str) -> dict[str, Any]:
        """Return the manifest of `version`, if this program can read its format."""
        name = f"versions/{version}/{MANIFEST}"
        content = self._storage.read(name) if VERSION.fullmatch(version) else None
        if content is None:
            self.directory(version)  # raises if it does not exist
        return manifests.read(content, self._storage.at(name), version)

    def verify(self, version: str) -> None:
        """Raise `RegistryError` unless manifest and parts are as they were when stored."""
        try:
            manifests.check(self.directory(version), version)
        except RegistryError:
            if not VERSION.fullmatch(version) or not self._storage.forget(version):
                raise
            self.directory(version)  # downloads and verifies another copy

    def read(self, name: str) -> bytes | None:
        """Return the content of a file beside `current`; None if it does not exist."""
        return self._storage.read(name)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file beside `current`, or in a folder there, atomically."""
        with self._storage.writing():
            self._storage.write(name, content)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder beside `current`, in order."""
        return self._storage.names(folder)

    def stamp(self, name: str = "current") -> Hashable:
        """Return a value that changes when `current`, or another file beside it, is replaced.

        Raises OSError if an object store does not respond.
        """
        return self._storage.stamp(name)

    def _compared_with(self, version: str) -> str | None:
        """Return the version published when `version` was trained, if known."""
        try:
            compared: str | None = self.manifest(version).get("compared_with")
        except RegistryError:  # damaged: its card is not used
            return None
        return compared

    def _name_in(self, name: str) -> str | None:
        content = self._storage.read(name)
        if content is None:
            return None
        version = content.decode(errors="replace").strip()
        if not VERSION.fullmatch(version):
            place = self._storage.at(name)
            raise RegistryError(f"{place}: expected a version's name, found {version!r}")
        return version

    def _may_become_current(self, version: str | None) -> None:
        pinned = self.pinned()
        if pinned not in (None, version):
            place = self._storage.at("pinned")
            raise RegistryError(f"{place}: {pinned} is pinned, so no other version is published")

    def _advance(self, version: str) -> None:
        before = self.current()
        if before == version:
            return
        # Before the pointer: after a crash in between, the history ends with the current version,
        # which is skipped in a rollback and not added twice.
        history = self._history()
        # A rollback goes back behind all refreshes.
        if before is not None and not is_refresh(before) and history[-1:] != [before]:
            self._remember([*history, before])
        self._storage.write("current", (version + "\n").encode())

    def _history(self) -> list[str]:
        content = (self._storage.read("history") or b"").decode(errors="replace")
        return [line for line in content.splitlines() if VERSION.fullmatch(line)]

    def _remember(self, history: Sequence[str]) -> None:
        self._storage.write("history", ("".join(f"{v}\n" for v in history[-_REMEMBERED:])).encode())

    def _add(
        self,
        write_parts: Callable[[Path], object],
        manifest: Mapping[str, Any],
        name: str | None = None,
    ) -> str:
        """Store a version under a `name`, less its fingerprint (None: the time of storage)."""
        with self._storage.staged() as staged:
            write_parts(staged)
            described = self._complete(manifest, manifests.parts(staged), name)
            (staged / MANIFEST).write_text(manifests.written(described), encoding="utf-8")
            self._storage.keep(staged, described["version"])
        return str(described["version"])

    def _complete(
        self, manifest: Mapping[str, Any], parts: Mapping[str, Any], name: str | None
    ) -> dict[str, Any]:
        now = self._clock().astimezone(UTC)
        created = now.isoformat(timespec="seconds")
        own = {"format": FORMAT, "created": created, "parts": parts}
        if name is not None:  # the age of a version is that of its training
            own |= {"created": manifest["created"], "refreshed_at": created}
        # Round trip through JSON, which turns keys into strings and tuples into lists.
        described = json.loads(json.dumps({**manifest, **own}, allow_nan=False))
        name = name or self._instant(now)
        return {**described, "version": f"{name}-{manifests.fingerprint(described)}"}

    def _instant(self, now: datetime) -> str:
        """Return a time later than every version's, so that names sort by time of storage."""
        for latest in self.versions()[-1:]:
            then = datetime.strptime(latest[:-7], _TIME).replace(tzinfo=UTC)
            now = max(now, then + timedelta(seconds=1))
        return now.strftime(_TIME)


def with_refresh(registry: Registry) -> list[str]:
    """Return the names of all versions, oldest first, and of the published refresh."""
    current = registry.current()
    refresh = [current] if current is not None and is_refresh(current) else []
    return sorted([*registry.versions(), *refresh])


def _is_set_aside(manifest: Mapping[str, Any]) -> bool:
    """Return whether a version was set aside when it was stored."""
    return not manifest.get("decision", {}).get("publish", True)
