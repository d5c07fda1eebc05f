"""Manifests of stored versions, and verification of their files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from birthmark.data.common.plurals import counted
from birthmark.data.common.regular import open_regular, read_regular

FORMAT = 1
"""The manifest format that is written, and the newest that is read."""

MOST_BYTES = 16 << 20
"""Size limit of a manifest, in bytes."""

MANIFEST = "manifest.json"
VERSION = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}(\.\d{5}-[0-9a-f]{6})?")
"""A version's name: when it was stored (UTC), and the fingerprint of its manifest.

A refresh has the name of the version that it refreshes, its own number, and its own fingerprint.
"""


def base_version(version: str) -> str:
    """Return the version that `version` refreshes; without a refresh, itself."""
    return version.partition(".")[0]


def is_refresh(version: str) -> bool:
    """Return whether a version's name is that of a refresh."""
    return "." in version


class RegistryError(ValueError):
    """The registry has unexpected contents; the message names the file."""


def written(described: Mapping[str, Any]) -> str:
    """Return the text of a manifest."""
    return json.dumps(described, indent=2, sort_keys=True, allow_nan=False) + "\n"


def read(content: bytes | None, place: object, version: str) -> dict[str, Any]:
    """Return the manifest of `version`, if this program can read its format.

    `content` is that of the file `place`, or None if it does not exist.
    """
    try:
        manifest: Any = json.loads(content or b"")
    except ValueError as error:
        raise RegistryError(f"{place}: expected a manifest in JSON: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise RegistryError(f"{place}: expected a manifest with a format number")
    number = manifest["format"]
    if number > FORMAT:
        raise RegistryError(f"{place}: expected a format up to {FORMAT}, found {number}")
    parts = manifest.get("parts")
    if manifest.get("version") != version or not isinstance(parts, dict):
        raise RegistryError(f"{place}: expected the manifest, with parts, of {version}")
    for name in map(PurePosixPath, parts):
        if name.is_absolute() or ".." in name.parts:
            raise RegistryError(f"{place}: expected parts below it, found {str(name)!r}")
    return manifest


def check(directory: Path, version: str) -> None:
    """Raise `RegistryError` unless manifest and parts are as they were when stored."""
    path = directory / MANIFEST
    try:
        manifest = read(read_regular(path, MOST_BYTES), path, version)
    except OSError as error:
        raise RegistryError(f"{path}: expected a manifest in JSON: {error}") from error
    if fingerprint(manifest) != version[-6:]:
        raise RegistryError(
            f"{path}: expected contents with fingerprint {version[-6:]},"
            f" found {fingerprint(manifest)}"
        )
    for name, expected in manifest["parts"].items():
        try:
            found = describe(directory / name)
        except OSError as error:
            raise RegistryError(
                f"{directory / name}: expected {_in_words(expected)}: {error}"
            ) from error
        if found != expected:
            raise RegistryError(
                f"{directory / name}: expected {_in_words(expected)}, found {_in_words(found)}"
            )


def parts(directory: Path) -> dict[str, dict[str, Any]]:
    """Return the size and checksum of each file below `directory`, sorted by name."""
    found = {
        path.relative_to(directory).as_posix(): describe(path)
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
    if not found or MANIFEST in found:
        raise RegistryError(f"{directory}: expected parts, none called {MANIFEST}")
    return found


def _in_words(part: Mapping[str, Any]) -> str:
    return f"{counted(part['size'], 'bytes')} with SHA-256 {part['sha256']}"


def describe(path: Path) -> dict[str, Any]:
    """Return the size (bytes) and the SHA-256 of a file."""
    with open_regular(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": path.stat().st_size, "sha256": digest}


def fingerprint(manifest: Mapping[str, Any]) -> str:
    """Return 6 hex digits of a hash over a manifest without its version."""
    body = {key: value for key, value in manifest.items() if key != "version"}
    text = json.dumps(body, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:6]
