"""The guide to an allocator of one's own, followed to the letter, with a copy of the sources."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from tests import crates, needs
from tests.docs.test_examples import ROOT, Block, Session, blocks, commands

pytestmark = pytest.mark.deep

PAGE = ROOT / "docs" / "engineers.md"
HEADING = "## Add an allocator"
LEARNED = [
    "birthmark ingest data/samples/day1.parquet --out day1",
    "birthmark train day1 --registry registry --trees 2 --rounds 1",
]
"""What the guide needs of the pages before it."""

NAMES = ("kernel", "emptiest")


def guide() -> list[Block]:
    """Return the section's blocks; those that change the sources are marked as any other."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.count("\n", 0, text.index(f"{HEADING}\n")) + 1
    end = begin + text[text.index(HEADING) :].partition("\n## ")[0].count("\n") + 1
    found = [each for each in blocks(PAGE) if begin < int(each.place.partition(":")[2]) < end]
    return [replace(each, mark="") if each.marked("not run") else each for each in found]


@pytest.fixture
def sources() -> Path:
    """Return a copy of the sources, as a reader has them after `make install`.

    It is always in the same place, so that what cargo has built of it is built once.
    """
    for program in ("cargo", "git", "make", "patch"):
        needs.program(program)
    copy = ROOT / "target" / "guide"
    # .venv may be a link, which the exclusion of directories does not mean
    which = ["--cached", "--others", "--exclude-standard", "--exclude=/.venv"]
    listed = ["git", "ls-files", "-z", *which]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    shutil.rmtree(copy / ".venv", ignore_errors=True)
    for path in (copy / "layout_hint/sim/src/ffs/allocators").glob("*.rs"):
        path.unlink()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).unlink(missing_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    crates.reuse(copy / "target", without="birthmark")
    crates.configure(copy, level=1)
    with_packages(copy / ".venv")
    done = subprocess.run(["make", "install"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return copy


def with_packages(directory: Path) -> None:
    """Make a virtual environment that has what pip installed into that of the tests."""
    venv.create(directory, symlinks=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(directory)}))
    (own / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = directory / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec "{directory}/bin/python" -m pip "$@"\n')
    pip.chmod(0o755)
    (directory / ".runtime").touch()


def test_an_allocator_of_ones_own_is_added_as_the_guide_tells(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "data").mkdir()
    crates.configure(tmp_path, level=1)
    (tmp_path / "data" / "samples").symlink_to(ROOT / "data" / "samples")
    reader = Session(tmp_path, "0", sources=sources)
    learn = "".join(f"$ {command}\n" for command in LEARNED)
    reader.do([Block("before", "console", learn, "", False), *guide()])
    *_, asked = commands(guide()[-1].body)
    rows = json.loads(reader.start(f"{asked[0]} --json").communicate(timeout=900)[0])
    of = {name: [row["elapsed"] for row in rows if row["allocator"] == name] for name in NAMES}
    assert all(of.values())
    assert of["kernel"] != of["emptiest"]
