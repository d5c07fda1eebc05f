"""Lists of a mounted file system are read and changed as its kernel takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.f2fs.sysfs import changes, read, write
from tests.layout_hint.f2fs.kernel import OWN, mount, take

EXTENSIONS = st.lists(st.text("abc", min_size=1, max_size=3), max_size=32, unique=True).map(tuple)


@given(EXTENSIONS, EXTENSIONS, EXTENSIONS, EXTENSIONS)
def test_the_lines_of_a_change_make_any_lists_of_any_others(
    cold: tuple[str, ...], hot: tuple[str, ...], new_cold: tuple[str, ...], new_hot: tuple[str, ...]
) -> None:
    there, wanted = Lists(cold, hot), Lists(new_cold, new_hot)
    text = str(there)
    for line in changes(there, wanted):
        text = take(text, line)
    found = Lists.parse(text, "kernel")
    assert ({*found.cold}, {*found.hot}) == ({*wanted.cold}, {*wanted.hot})
    assert changes(found, wanted) == []


def test_a_change_is_written_a_line_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = mount(tmp_path, "sda1", monkeypatch)
    assert read("sda1", tmp_path) == Lists(("mp", "jpg", "so"), ("db",))
    write("sda1", ["[c]!mp", "[h]tmp"], tmp_path)
    assert read("sda1", tmp_path) == Lists(("jpg", "so"), ("db", "tmp"))
    with pytest.raises(OSError, match=r"refused '\[h\]tmp': Invalid argument") as error:
        write("sda1", ["[h]tmp"], tmp_path)
    assert error.value.filename == str(lists)


@pytest.mark.parametrize("device", ["sdb1", "../sda1", "sda1/", ""])
def test_a_device_without_a_mounted_f2fs_is_refused_with_those_that_are(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount(tmp_path / "kernel", "sda1", monkeypatch)
    with pytest.raises(ValueError, match="expected a mounted F2FS, one of: sda1"):
        read(device, tmp_path / "kernel")


def test_lists_that_cannot_be_understood_are_refused_with_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = mount(tmp_path, "sda1", monkeypatch)
    lists.with_name("other").write_text(OWN)
    lists.unlink()
    lists.symlink_to(Path("/dev/null"))
    with pytest.raises(ValueError, match="sda1/extension_list: expected a mounted F2FS"):
        read("sda1", tmp_path)
