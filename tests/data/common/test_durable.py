"""Temporary files replace their targets completely, or not at all.

Tests also data/common/descriptors.py.
"""

from __future__ import annotations

import errno
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from birthmark.data.common import durable
from tests.waiting import eventually


def test_a_written_file_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with durable.replaced(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def half_written(target: Path, error: Exception) -> None:
    with durable.replaced(target) as temporary:
        temporary.write_text("half")
        raise error


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(OSError, match="No space left"):
        half_written(target, OSError(errno.ENOSPC, "No space left on device"))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_names_what_was_to_be_written(tmp_path: Path) -> None:
    target = tmp_path / "none" / "out.txt"
    with pytest.raises(FileNotFoundError) as raised, durable.replaced(target) as temporary:
        temporary.write_text("x")
    assert raised.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as raised:
        durable.write_text(target, "x")
    assert raised.value.filename == str(target)


def test_an_error_of_a_full_disk_names_what_was_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as raised, durable.error_context(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert raised.value.filename == str(tmp_path)
    with pytest.raises(OSError, match="No space left") as raised, durable.error_context(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device", "own")
    assert raised.value.filename == "own"


@pytest.mark.parametrize("name", ["", "a/b", "x" * 255])
def test_a_file_is_replaced_on_a_host_of_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    with durable.replaced(tmp_path / "file") as temporary:
        temporary.write_text("new")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_directory_is_replaced_as_a_file_is(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with durable.replaced(target) as temporary:
        temporary.mkdir()
        (temporary / "part").write_text("x")
    assert (target / "part").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o750), (0o002, 0o770), (0o077, 0o700)])
def test_a_private_directory_is_open_to_its_owner_and_group_alone(
    tmp_path: Path, umask: int, mode: int
) -> None:
    place = tmp_path / "above" / "place"
    before = os.umask(umask)
    try:
        durable.private(place)
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == mode
    place.chmod(0o755)
    durable.private(place)
    assert place.stat().st_mode & 0o777 == 0o755, "its owner chose so"


def test_a_file_is_made_with_the_mode_owner_and_group_of_another(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    durable.make_like(old, new, 0o600)
    assert new.stat().st_mode & 0o777 == 0o600
    new.unlink()
    old.touch()
    old.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(old, 12, 34)
    durable.make_like(old, new, 0o600)
    one, other = old.stat(), new.stat()
    assert (one.st_mode, one.st_uid, one.st_gid) == (other.st_mode, other.st_uid, other.st_gid)


def test_a_file_whose_owner_cannot_be_kept_is_not_made_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    old = tmp_path / "old"
    old.touch()
    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError, match=r"owner and group could not be kept.*old"):
        durable.make_like(old, tmp_path / "new", 0o600)


def test_an_empty_directory_goes_with_those_that_were_made_with_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with durable.alone_in(tmp_path / "there" / "new" / "own"):
        assert (tmp_path / "there" / "new" / "own").is_dir()
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_a_directory_stays_with_what_was_put_into_it(tmp_path: Path) -> None:
    with durable.alone_in(tmp_path / "own"):
        (tmp_path / "own" / "file").touch()
    assert list((tmp_path / "own").iterdir()) == [tmp_path / "own" / "file"]


def test_a_waiting_process_makes_a_removed_directory_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = tmp_path / "own"

    def second() -> bool:
        with durable.alone_in(own):
            return own.is_dir()

    with ThreadPoolExecutor(1) as pool:
        with durable.alone_in(own):
            waiting = pool.submit(second)
            assert eventually(lambda: "another process is writing there; waiting" in caplog.text)
            assert not waiting.done()
        assert waiting.result(timeout=60)
    assert not own.exists()


def test_a_directory_that_takes_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    durable.check_writable(tmp_path / "log")
    assert list((tmp_path / "log").iterdir()) == []
    with pytest.raises(FileExistsError) as caught:
        durable.check_writable(tmp_path / "file" / "log")
    assert caught.value.filename == str(tmp_path / "file" / "log")
