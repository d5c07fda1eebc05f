from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pyarrow as pa
import pytest

from birthmark.serving.models.shared_images import MOST_IMAGES, SHARED, shared_buffer


def test_one_process_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHARED, raising=False)
    assert shared_buffer(b"image").to_pybytes() == b"image"


def test_workers_map_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    one, other = shared_buffer(b"image" * 1000), shared_buffer(b"image" * 1000)
    (path,) = tmp_path.glob("*.image")
    maps = Path("/proc/self/maps").read_text()
    assert maps.count(str(path)) == 2
    assert one.to_pybytes() == other.to_pybytes() == b"image" * 1000


IMAGES = 30
WORKERS = 4


def unmapped(together: Barrier) -> int:
    """Return how many images a worker did not share, or mapped from a removed file."""
    own = 0
    for number in range(IMAGES):
        together.wait(60)
        image = shared_buffer(bytes([number]) * 1_000_000)
        together.wait(60)
        lines = Path("/proc/self/maps").read_text().splitlines()
        own += not any(line.endswith(".image") for line in lines)
        del image
    return own


def test_workers_that_start_at_once_map_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, spawn.Pool(WORKERS) as pool:
        together = manager.Barrier(WORKERS)
        assert pool.map(unmapped, [together] * WORKERS, chunksize=1) == [0] * WORKERS


def test_a_mapping_stays_when_its_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    images: list[tuple[bytes, pa.Buffer]] = []
    for number in range(3 * MOST_IMAGES):
        content = bytes([number]) * 10_000
        images.append((content, shared_buffer(content)))
    assert len(list(tmp_path.glob("*.image"))) == MOST_IMAGES
    for content, image in images:
        assert image.to_pybytes() == content


def test_without_a_directory_each_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path / "gone"))
    assert shared_buffer(b"image").to_pybytes() == b"image"
