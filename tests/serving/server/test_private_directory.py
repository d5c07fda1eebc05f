from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from birthmark.serving.server.private_directory import NEW_SECONDS, PREFIX, private_directory


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def make_old(path: Path) -> None:
    """Set a directory's time so that it is not new."""
    time = path.stat().st_mtime - 2 * NEW_SECONDS
    os.utime(path, (time, time))


def test_a_directory_is_for_its_owner_and_removed_at_the_end(temporary: Path) -> None:
    with private_directory() as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        (path / "application").touch()
    assert list(temporary.iterdir()) == []


def test_the_directory_of_a_killed_service_is_removed_and_that_of_a_running_one_stays(
    temporary: Path,
) -> None:
    killed, new, other = (temporary / name for name in (f"{PREFIX}a", f"{PREFIX}b", "other"))
    for path in (killed, new, other):
        path.mkdir()
    (killed / "application").touch()
    with private_directory() as running:
        for path in (killed, other, running):
            make_old(path)
        with private_directory() as second:
            assert set(temporary.iterdir()) == {new, other, running, second}
