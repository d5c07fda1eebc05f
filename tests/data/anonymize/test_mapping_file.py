"""The mapping's file: whoever reads it can undo the mapping, whoever damages it, mix it up."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from birthmark.data.anonymize import MappingError, Settings, open_mapping


def made(path: Path, **options: object) -> Path:
    with open_mapping(path, **options) as file:  # type: ignore[arg-type]
        file.mapping.name(b"prediction.tex")
        file.save()
    return path


def test_only_the_owner_may_ever_read_it(tmp_path: Path) -> None:
    seen: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for path in tmp_path.glob("*mapping*"):
                if path.suffix != ".lock":
                    with suppress(FileNotFoundError):
                        seen.add(stat.S_IMODE(path.stat().st_mode))

    watcher = threading.Thread(target=watch)
    watcher.start()
    umask = os.umask(0)
    try:
        for _ in range(20):
            made(tmp_path / "mapping")
    finally:
        os.umask(umask)
        done.set()
        watcher.join()
    assert seen == {0o600}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_one_that_others_may_read_is_refused_and_left(tmp_path: Path, mode: int) -> None:
    path = made(tmp_path / "mapping")
    before = path.read_bytes()
    path.chmod(mode)
    with pytest.raises(MappingError, match=f"mapping: mode {mode:04o}.*expected 0600"):
        made(path)
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: whole[:-1], r"line \d+: expected `end \d+ [0-9a-f]{8}`"),
        (lambda whole: whole[: len(whole) // 2], r"line \d+: expected"),
        (lambda whole: whole + whole, "expected nothing after"),
        (lambda whole: whole.replace(b"user 0 0", b"user 0 9"), "expected `end"),
        (lambda whole: whole.replace(b"user 0 0", b"user 1 0"), r"line \d+: expected .* pair"),
        (lambda whole: whole.replace(b"mapping 1", b"mapping 2"), "line 1: expected the line"),
        (lambda whole: whole.replace(b"settings", b"setting"), "line 2: expected `settings"),
        (lambda whole: whole.replace(b"seed none", b"seed some"), "line 3: expected"),
        (lambda whole: b"", "line 2: expected `settings"),
        (lambda whole: os.urandom(1000), "expected"),
    ],
)
def test_a_damaged_one_is_refused_and_left(tmp_path: Path, damage: object, message: str) -> None:
    path = made(tmp_path / "mapping")
    damaged = damage(path.read_bytes())  # type: ignore[operator]
    path.write_bytes(damaged)
    with pytest.raises(MappingError, match=f"{path}: .*{message}"):
        made(path)
    assert path.read_bytes() == damaged
    assert sorted(each.name for each in tmp_path.iterdir()) == [".mapping.lock", "mapping"]


def test_it_is_not_used_by_two_at_once(tmp_path: Path) -> None:
    path = made(tmp_path / "mapping")
    held = """
import sys
from pathlib import Path
from birthmark.data.anonymize import open_mapping
with open_mapping(Path(sys.argv[1])):
    print(flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", held, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(MappingError, match="mapping: another process is using"):
            made(path)
        other.kill()
    made(path)


def test_exemptions_cannot_change_once_there_is_a_mapping(tmp_path: Path) -> None:
    path = made(tmp_path / "mapping", settings=Settings(names=("CVS",)))
    before = path.read_bytes()
    made(path, settings=Settings(names=("CVS",)))
    made(path)
    assert path.read_bytes() == before
    with pytest.raises(MappingError, match="mapping: was made with other settings"):
        made(path, settings=Settings(names=("CVS", "core")))
    with pytest.raises(MappingError, match="its seed is none: expected the same one, or none"):
        made(path, seed=3)
    assert path.read_bytes() == before


def test_its_owner_can_look_names_up(tmp_path: Path) -> None:
    with open_mapping(tmp_path / "mapping") as file:
        image = file.mapping.name(b'Sent "Items"').decode()
        file.save()
    text = (tmp_path / "mapping").read_text()
    assert f'name "Sent\\20\\22Items\\22" "{image}"' in text
