"""Build artefacts of this checkout, for tests that build a copy of the sources or a wheel."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from docs.imports import crates

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "target" / "debug"
STORED = ("deps", "build", ".fingerprint")

PROFILE = re.compile(r"^\[profile\.dev\]\n.*?(?=^# For wheels)", re.M | re.S)
"""What Cargo.toml says of the development profile."""

PACKAGE = """
[profile.dev.package.{}]
opt-level = {}
debug = false
"""


def reuse(target: Path, without: str) -> None:
    """Give a target directory the artefacts built here, except those with ``without`` in a name.

    They are links, as they are gigabytes: cargo replaces files and never changes them.
    """
    if not BUILT.is_dir():
        return
    ignored = shutil.ignore_patterns(*(f"*{without.replace('-', mark)}*" for mark in "-_"))
    with (BUILT / ".cargo-lock").open("a") as lock:  # cargo's own: nobody builds meanwhile
        fcntl.flock(lock, fcntl.LOCK_EX)
        for stored in STORED:
            copy: Callable[..., object] = shutil.copy2 if stored == ".fingerprint" else _link
            shutil.copytree(
                BUILT / stored,
                target / "debug" / stored,
                ignore=ignored,
                copy_function=copy,
                dirs_exist_ok=True,
            )


def _link(source: str, target: str) -> None:
    """Let a file be another, or on another file system its copy; replace an earlier run's."""
    Path(target).unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def configure(folder: Path, level: int | None = None) -> None:
    """Let cargo reuse crates where it runs in a folder: it compiles them as Cargo.toml says.

    The project's crates it compiles at a lower ``level``, if there is one.
    """
    packages = [PACKAGE.format(name, level) for name in crates() if level is not None]
    (folder / ".cargo").mkdir(exist_ok=True)
    profile = PROFILE.search((ROOT / "Cargo.toml").read_text())
    assert profile is not None
    config = folder / ".cargo" / "config.toml"
    settings = config.read_text() if config.exists() else ""
    config.write_text("\n".join([settings, profile[0], *packages]))
