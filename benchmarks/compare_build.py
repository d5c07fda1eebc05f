"""A commit of the repository, checked out and built for ``benchmarks.compare``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Commit:
    """A commit by its full hash, and the name that it was asked for by."""

    name: str
    hash: str

    @classmethod
    def named(cls, name: str) -> Commit:
        """Find a commit by anything that git takes; raise ``SystemExit`` if it finds none."""
        command = ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if found.returncode:
            raise SystemExit(f"{name}: no commit of {ROOT}")
        return cls(name, found.stdout.strip())

    def __str__(self) -> str:
        return f"{self.name} ({self.hash[:7]})"


@dataclass(frozen=True)
class Build:
    """A checkout with a virtual environment in which its release build is installed."""

    checkout: Path

    @property
    def python(self) -> Path:
        """The interpreter of the virtual environment."""
        return self.checkout / ".venv/bin/python"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the checkout's programs: its own commands, its own ``benchmarks``."""
        path = f"{self.python.parent}:{os.environ['PATH']}"
        return os.environ | {"PATH": path, "PYTHONPATH": str(self.checkout)}


def build(commit: Commit, scratch: Path) -> Build:
    """Check a commit out in ``scratch`` and build it, unless that was done there before.

    Editable, so that the commit's own benchmarks run on it. Cargo's target folder is shared: what
    commits have in common, the crates that they depend on, is built once.
    """
    built = Build(scratch / commit.hash)
    done = built.checkout / ".built"
    if done.exists():
        return built
    checkout(commit, built.checkout)
    run([sys.executable, "-m", "venv", ".venv"], built)
    pip = [str(built.python), "-m", "pip", "install", "--quiet"]
    run([*pip, "--require-hashes", "--requirement", "requirements.lock"], built)
    release = {
        "CARGO_TARGET_DIR": str(scratch / "target"),
        "SETUPTOOLS_RUST_CARGO_PROFILE": "release",  # an editable build has `dev` else
    }
    run([*pip, "--no-deps", "--no-build-isolation", "--editable", "."], built, release)
    done.touch()
    return built


def checkout(commit: Commit, folder: Path) -> None:
    """Write a commit's files into a folder, dated now.

    By the date of the commit, cargo would take what it built of an earlier one for up to date.
    """
    folder.mkdir(exist_ok=True)
    archive = subprocess.run(["git", "archive", commit.hash], cwd=ROOT, check=True, stdout=-1)
    subprocess.run(["tar", "-x", "--touch"], cwd=folder, check=True, input=archive.stdout)


def run(command: Sequence[object], built: Build, more: dict[str, str] | None = None) -> None:
    """Run a step of a build; what it prints goes to standard error."""
    environment = built.environment | (more or {})
    subprocess.run(
        [*map(str, command)], cwd=built.checkout, env=environment, check=True, stdout=sys.stderr
    )
