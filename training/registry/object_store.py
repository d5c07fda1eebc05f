"""A registry in an object store, by any of pyarrow's file systems.

Versions appear atomically: an object exists only once it is complete, the manifest is sent after
the parts, and a version without a manifest does not count. The object `current` is sent last.
Versions are downloaded once into a local directory, because images are mapped into memory; a
download is verified before it is renamed into place.

These file systems have no locks and no conditional writes. Writers on one machine exclude each
other. Writers on different machines can store at the same time, each a complete version, and
`current` names the last: let one machine write.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from birthmark.data.common import durable
from birthmark.training.registry import manifests
from birthmark.training.registry.manifests import MANIFEST, VERSION, RegistryError
from birthmark.training.registry.storage import Check

OBJECT_STORES = {"s3", "gcs", "abfs"}
"""The file systems without directories."""

_AT_A_TIME = 8  # objects: a store is slow, but parallel
_ABANDONED = timedelta(days=1)
"""Age after which a version without a manifest counts as abandoned."""


def cache_directory() -> Path:
    """Return the directory of local copies: ``$BIRTHMARK_CACHE``, or the user's cache directory.

    Raises ValueError if no variable names a directory and the user has none.
    """
    if own := os.environ.get("BIRTHMARK_CACHE"):
        return Path(own)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "birthmark"
    except RuntimeError:  # no HOME, and no entry in passwd
        raise ValueError(
            "expected a directory for copies of versions in BIRTHMARK_CACHE; found none, and the"
            " user has no home directory"
        ) from None


class RemoteStorage:
    """The files below a URI of pyarrow (``s3://bucket/path?endpoint_override=…``).

    `cache` is the directory of local copies; by default a separate one in `cache_directory`.
    """

    def __init__(self, uri: str, cache: Path | None = None) -> None:
        parts = urlsplit(uri)
        # A URI can have a password, which must not appear in messages.
        host, path = parts.netloc.rpartition("@")[2], parts.path.rstrip("/")
        self._place = f"{parts.scheme}://{host}{path}"
        try:
            self._fs, self._base = fs.FileSystem.from_uri(uri)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).replace(uri, self._place)
            raise RegistryError(f"{self._place}: expected a file system's URI: {reason}") from error
        if not self._base:
            raise RegistryError(f"{self._place}: expected a file system's URI with a path")
        digest = hashlib.sha256(uri.encode()).hexdigest()[:16]
        self._cache = cache or cache_directory() / digest

    def __str__(self) -> str:
        return self._place

    def missing(self) -> None:
        """Return None: in an object store, every place exists."""

    def at(self, name: str) -> str:
        """Return the URI of an object, without secrets."""
        return f"{self._place}/{name}"

    def read(self, name: str) -> bytes | None:
        """Return the content of an object; None if it does not exist."""
        try:
            with self._fs.open_input_stream(self._path(name)) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def stamp(self, name: str) -> Hashable:
        """Return the content of an object, as its stamp."""
        return self.read(name)

    def write(self, name: str, content: bytes) -> None:
        """Send an object."""
        path = self._path(name)
        if self._fs.type_name not in OBJECT_STORES:
            self._fs.create_dir(path.rpartition("/")[0], recursive=True)
        with self._fs.open_output_stream(path) as stream:
            stream.write(content)

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects below a prefix."""
        selector = fs.FileSelector(self._path(folder), allow_not_found=True)
        found = self._fs.get_file_info(selector)
        return sorted(info.base_name for info in found if info.type == fs.FileType.File)

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        with suppress(FileNotFoundError):
            self._fs.delete_file(self._path(name))

    def versions(self) -> list[str]:
        """Return the names of versions with a manifest."""
        return [name for name, own in self._objects().items() if MANIFEST in own]

    def local(self, version: str, check: Check) -> Path | None:
        """Return the directory of a version's copy, after a download if necessary."""
        path = self._cache / version
        if path.is_dir():
            return path
        content = self.read(f"versions/{version}/{MANIFEST}")
        if content is None:
            return None
        place = self.at(f"versions/{version}/{MANIFEST}")
        names = manifests.read(content, place, version)["parts"]
        with self.staged() as staged:
            (staged / MANIFEST).write_bytes(content)
            with ThreadPoolExecutor(_AT_A_TIME) as pool:
                list(pool.map(lambda name: self._bring(version, name, staged), names))
            check(staged)
            self._take(staged, path)
        return path

    def forget(self, version: str) -> bool:
        """Drop the copy of a version."""
        path = self._cache / version
        if path.is_dir():
            with tempfile.TemporaryDirectory(dir=self._cache) as away:
                path.replace(Path(away) / version)
        return True

    def writing(self) -> AbstractContextManager[None]:
        """Exclude other writers on this machine."""
        self._cache.mkdir(parents=True, exist_ok=True)
        return durable.locked(self._cache / ".lock")

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Yield a directory beside the local copies, which is removed unless it is renamed."""
        self._cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._cache, prefix=".incoming-") as directory:
            path = Path(directory) / "version"
            path.mkdir()
            yield path

    def keep(self, staged: Path, version: str) -> None:
        """Send the parts, then the manifest."""
        names = [p.relative_to(staged).as_posix() for p in staged.rglob("*") if p.is_file()]
        parts = [name for name in names if name != MANIFEST]

        def send(name: str) -> None:
            self.write(f"versions/{version}/{name}", (staged / name).read_bytes())

        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            list(pool.map(send, parts))
        send(MANIFEST)
        self._take(staged, self._cache / version)

    def discard(self, version: str) -> None:
        """Remove the manifest, then the parts, and abandoned versions."""
        objects = self._objects()
        self.remove(f"versions/{version}/{MANIFEST}")
        latest = (datetime.now(UTC) - _ABANDONED).strftime("%Y%m%dT%H%M%SZ")
        abandoned = [v for v, own in objects.items() if MANIFEST not in own and v < latest]
        for each in (version, *abandoned):
            for name in objects.get(each, set()) - {MANIFEST}:
                self.remove(f"versions/{each}/{name}")
        self.forget(version)

    def _objects(self) -> dict[str, set[str]]:
        """Return the names of each version's objects, complete or not."""
        top = self._path("versions")
        selector = fs.FileSelector(top, allow_not_found=True, recursive=True)
        found: dict[str, set[str]] = {}
        for info in self._fs.get_file_info(selector):
            version, _, name = info.path.removeprefix(f"{top}/").partition("/")
            if info.type == fs.FileType.File and name and VERSION.fullmatch(version):
                found.setdefault(version, set()).add(name)
        return found

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    def _bring(self, version: str, name: str, staged: Path) -> None:
        content = self.read(f"versions/{version}/{name}")
        if content is None:
            place = self.at(f"versions/{version}/{name}")
            raise RegistryError(f"{place}: missing, a part of {version}")
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_bytes(content)

    def _take(self, staged: Path, path: Path) -> None:
        """Rename a complete copy, unless another process has made the same meanwhile."""
        try:
            staged.replace(path)
        except OSError:
            if not path.is_dir():
                raise
            shutil.rmtree(staged)
