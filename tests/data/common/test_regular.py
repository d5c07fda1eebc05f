"""Only regular files of a bounded length are read whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from birthmark.data.anonymize.settings import Settings
from birthmark.data.common.regular import (
    MODEL_BYTES,
    SETTINGS_BYTES,
    open_regular,
    read_regular,
)
from birthmark.data.common.setting_files import read_toml
from birthmark.layout_hint.replay.model_image import read_image
from birthmark.predictor.allocation.verdicts import RegionCapacity
from birthmark.predictor.parts import read_json
from birthmark.site_file import SiteFile
from birthmark.training.config import read_config, read_sections
from birthmark.training.registry.storage import LocalStorage

READERS: list[Callable[[Path], object]] = [
    partial(read_regular, most=SETTINGS_BYTES),
    lambda path: read_toml(path, Settings),
    read_config,
    lambda path: read_sections(path, SiteFile),
    read_json,
    lambda path: read_image(str(path), RegionCapacity.of(1 << 20)),
    lambda path: LocalStorage(path.parent).read(path.name),
]


def test_a_regular_file_is_read_whole_up_to_a_size_and_by_links(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"12345")
    link.symlink_to(path)
    assert read_regular(path, 5) == read_regular(link, 5) == b"12345"
    with pytest.raises(OSError, match=f"expected at most 4 bytes.*{path}"):
        read_regular(path, 4)


def test_other_files_than_regular_ones_are_refused_without_waiting(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero")):
        with pytest.raises(OSError, match=f"expected a regular file.*{path}"):
            read_regular(path, 10)
        with pytest.raises(OSError, match=f"expected a regular file.*{path}"):
            open_regular(path)


@pytest.mark.parametrize("read", READERS)
def test_a_fifo_or_a_device_without_end_is_refused(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("fifo", "zero"):
        with pytest.raises((OSError, ValueError), match="expected a regular file"):
            read(tmp_path / name)


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_is_too_long_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(MODEL_BYTES + 1)
    with pytest.raises((OSError, ValueError), match=r"expected at most [0-9,]+ bytes"):
        read(tmp_path / "long")
