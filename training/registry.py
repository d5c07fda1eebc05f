"""Trained models on disk: complete versions, and a pointer to the published one.

    <registry>/versions/<version>/manifest.json   what it was trained on, figures, checksums
    <registry>/versions/<version>/...             its parts
    <registry>/current                            the published version's name, and a newline

A version is written aside, flushed, and renamed into place whole; then the pointer is replaced.
So a crash at any instant leaves the previous version published, and readers need no lock.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from data import durable

FORMAT = 1
"""The manifest format written here, and the newest one that is read."""

MANIFEST = "manifest.json"
_VERSION = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_TIME = "%Y%m%dT%H%M%SZ"


class RegistryError(ValueError):
    """The registry holds something other than what it should; the message names the file."""


def _now() -> datetime:
    return datetime.now(UTC)


class Registry:
    """A directory of model versions (see the module for its layout).

    Parameters
    ----------
    path : the directory; the first `publish` or `store` makes it.
    clock : tells the time (UTC) that a new version is named by.

    """

    def __init__(self, path: Path | str, clock: Callable[[], datetime] = _now) -> None:
        self.path = Path(path)
        self._versions = self.path / "versions"
        self._pointer = self.path / "current"
        # Only the holder of the lock writes, so a name of its own would serve no one; and
        # whatever bears this one when a writer starts, a crash left behind.
        self._incoming = self._versions / ".incoming"
        self._clock = clock

    def publish(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        """Store a new version and make it the current one; return its name.

        `write_parts` writes the parts into the empty directory that it is given. `manifest` says
        what they are; the registry adds `format`, `version`, `created` and `parts` to it.
        """
        with self._writing():
            version = self._add(write_parts, manifest)
            durable.write_text(self._pointer, version + "\n")
        return version

    def store(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        """Store a new version as `publish` does, but leave the current one current."""
        with self._writing():
            return self._add(write_parts, manifest)

    def rollback(self, version: str) -> None:
        """Make an earlier (or a stored) `version` the current one, if it is intact."""
        self.verify(version)
        with self._writing():
            durable.write_text(self._pointer, version + "\n")

    def current(self) -> str | None:
        """Return the published version's name, or None where nothing was ever published."""
        try:
            version = self._pointer.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None
        if not _VERSION.fullmatch(version):
            raise RegistryError(f"{self._pointer}: expected a version's name, found {version!r}")
        return version

    def versions(self) -> list[str]:
        """Return the names of all versions, oldest first."""
        if not self._versions.is_dir():
            return []
        return sorted(p.name for p in self._versions.iterdir() if _VERSION.fullmatch(p.name))

    def directory(self, version: str) -> Path:
        """Return the directory of `version`: its parts and its manifest."""
        path = self._versions / version
        if not _VERSION.fullmatch(version) or not path.is_dir():
            raise RegistryError(f"{self._versions}: holds no version {version!r}")
        return path

    def manifest(self, version: str) -> dict[str, Any]:
        """Return the manifest of `version`, if this program can read its format."""
        path = self.directory(version) / MANIFEST
        try:
            manifest: Any = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise RegistryError(f"{path}: expected a manifest in JSON: {error}") from error
        if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
            raise RegistryError(f"{path}: expected a manifest with its format's number")
        number = manifest["format"]
        if number > FORMAT:
            raise RegistryError(
                f"{path}: its format is {number}, and this program reads formats up to {FORMAT}"
            )
        if manifest.get("version") != version or not isinstance(manifest.get("parts"), dict):
            raise RegistryError(f"{path}: expected the manifest, with parts, of {version}")
        return manifest

    def verify(self, version: str) -> None:
        """Raise `RegistryError` unless manifest and parts are as they were when stored."""
        directory, manifest = self.directory(version), self.manifest(version)
        if _fingerprint(manifest) != version[-6:]:
            raise RegistryError(
                f"{directory / MANIFEST}: expected contents with fingerprint {version[-6:]},"
                f" found {_fingerprint(manifest)}"
            )
        for name, expected in manifest["parts"].items():
            try:
                found = _describe(directory / name)
            except OSError as error:
                raise RegistryError(f"{directory / name}: expected {expected}: {error}") from error
            if found != expected:
                raise RegistryError(f"{directory / name}: expected {expected}, found {found}")

    def _writing(self) -> AbstractContextManager[None]:
        if not self._versions.is_dir():
            self._versions.mkdir(parents=True, exist_ok=True)
            durable.sync(self.path.parent)
        return durable.locked(self.path / ".lock")

    def _add(self, write_parts: Callable[[Path], object], manifest: Mapping[str, Any]) -> str:
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._incoming.mkdir()
        write_parts(self._incoming)
        described = self._complete(manifest)
        text = json.dumps(described, indent=2, sort_keys=True, allow_nan=False)
        (self._incoming / MANIFEST).write_text(text + "\n", encoding="utf-8")
        durable.sync_tree(self._incoming)
        durable.rename(self._incoming, self._versions / described["version"])
        return str(described["version"])

    def _complete(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        now = self._clock().astimezone(UTC)
        parts = {
            path.relative_to(self._incoming).as_posix(): _describe(path)
            for path in sorted(self._incoming.rglob("*"))
            if path.is_file()
        }
        if not parts or MANIFEST in parts:
            raise RegistryError(f"{self._incoming}: expected parts, none called {MANIFEST}")
        own = {"format": FORMAT, "created": now.isoformat(timespec="seconds"), "parts": parts}
        # As it will be read: JSON turns keys into strings and tuples into lists.
        described = json.loads(json.dumps({**manifest, **own}, allow_nan=False))
        return {**described, "version": f"{self._instant(now)}-{_fingerprint(described)}"}

    def _instant(self, now: datetime) -> str:
        """Return a time later than every version's, so that names sort in order of storing."""
        for latest in self.versions()[-1:]:
            then = datetime.strptime(latest[:-7], _TIME).replace(tzinfo=UTC)
            now = max(now, then + timedelta(seconds=1))
        return now.strftime(_TIME)


def _describe(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": path.stat().st_size, "sha256": digest}


def _fingerprint(manifest: Mapping[str, Any]) -> str:
    """Return 6 hex digits over everything in a manifest but the version that they end."""
    body = {key: value for key, value in manifest.items() if key != "version"}
    text = json.dumps(body, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:6]
