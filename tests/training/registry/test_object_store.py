"""Registries in an object store, on a real server that speaks S3 (`make s3-server`)."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from birthmark.training.config import Settings
from birthmark.training.learn.train import Lives, train
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry, RegistryError
from tests.s3 import SECRET, Store, running

pytestmark = pytest.mark.deep

NIGHT = datetime(2026, 11, 21, 7, 45, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with running(tmp_path_factory.mktemp("s3")) as store:
        yield store


Make = Callable[..., Registry]


@pytest.fixture
def remote(store: Store, tmp_path: Path) -> Make:
    """Return what makes the test's own registry in the bucket, as seen by one machine of many."""

    def make(machine: str = "one") -> Registry:
        uri = store.uri(f"of/{tmp_path.name}")
        return Registry(uri, clock=lambda: NIGHT, cache=tmp_path / machine)

    return make


@pytest.fixture
def objects(store: Store, tmp_path: Path) -> Path:
    """Return where the server keeps them."""
    return store.objects / "of" / tmp_path.name


def parts(text: str) -> Callable[[Path], None]:
    def write(directory: Path) -> None:
        (directory / "name").mkdir()
        (directory / "name" / "rules.parquet").write_text(text)
        (directory / "model.json").write_text("{}")
        (directory / "empty").touch()

    return write


def test_another_machine_serves_a_published_version(remote: Make) -> None:
    here, there = remote(), remote("two")
    assert (there.current(), there.versions(), there.stamp()) == (None, [], None)
    first, second = (here.publish(parts(text), {"seed": 7}) for text in "ab")
    assert there.versions() == [first, second]
    assert there.current() == second
    there.verify(second)
    assert (there.directory(second) / "name" / "rules.parquet").read_text() == "b"
    assert there.manifest(first)["seed"] == 7
    seen = there.stamp()
    here.rollback()
    assert there.stamp() != seen
    assert there.current() == first


def test_a_life_in_an_object_store_is_as_on_a_disk(remote: Make) -> None:
    here, there = remote(), remote("two")
    first, second, third = (here.publish(parts(text), {}) for text in "abc")
    assert there.previous() == second
    there.directory(first)
    there.pin(second)
    assert here.pinned() == second
    with pytest.raises(RegistryError, match=f"pinned: {second} is pinned"):
        here.publish(parts("d"), {})
    there.unpin()
    there.unpin()
    assert here.pinned() is None
    assert there.prune(1, dry_run=True) == [first]
    assert there.prune(1) == [first]
    assert here.versions() == [second, third]
    for registry in (there, remote("three")):
        with pytest.raises(RegistryError, match=f"holds no version '{first}'"):
            registry.directory(first)


def test_a_copy_that_was_damaged_is_brought_again(remote: Make) -> None:
    registry = remote()
    version = registry.publish(parts("a"), {})
    part = registry.directory(version) / "name" / "rules.parquet"
    part.write_text("z")
    registry.verify(version)
    assert part.read_text() == "a"


def test_a_damaged_or_lost_object_is_refused_by_name_without_secrets(
    remote: Make, objects: Path, tmp_path: Path
) -> None:
    version = remote().publish(parts("a"), {})
    object_ = objects / "versions" / version / "name" / "rules.parquet"
    object_.write_text("z")
    with pytest.raises(RegistryError, match=r"rules\.parquet: expected .*, found "):
        remote("two").verify(version)
    object_.unlink()
    with pytest.raises(RegistryError, match="missing, a part of") as error:
        remote("two").verify(version)
    place = f"s3://models/of/{tmp_path.name}/versions/{version}/name/rules.parquet"
    assert str(error.value).startswith(place)
    assert SECRET not in str(error.value) + remote().place
    assert not list((tmp_path / "two").glob("2*"))


def test_a_version_without_a_manifest_does_not_count_and_is_pruned(
    remote: Make, objects: Path
) -> None:
    registry = remote()
    half = objects / "versions" / "20200101T000000Z-abcdef"
    half.mkdir(parents=True)
    (half / "model.json").write_text("{}")
    first, _, _ = (registry.publish(parts(text), {}) for text in "abc")
    assert half.name not in registry.versions()
    assert registry.prune(1) == [first]
    assert not (half / "model.json").exists()


def test_the_manifest_is_sent_last_and_the_pointer_after_it(remote: Make, objects: Path) -> None:
    version = remote().publish(parts("a"), {})
    own = objects / "versions" / version
    sent = {path: path.stat().st_mtime_ns for path in own.rglob("*") if path.is_file()}
    manifest = sent.pop(own / "manifest.json")
    assert len(sent) == 3
    assert max(sent.values()) < manifest < (objects / "current").stat().st_mtime_ns


PUBLISHER = """
import sys
from pathlib import Path
from birthmark.training.registry import Registry
registry = Registry(sys.argv[1], cache=Path(sys.argv[2]))
def write(directory):
    for number in range(4):
        (directory / f"part{number}").write_bytes(b"x" * 100_000)
while True:
    print(registry.publish(write, {}), flush=True)
"""


def test_a_publisher_killed_at_any_moment_leaves_only_whole_versions(
    remote: Make, store: Store, tmp_path: Path
) -> None:
    wait = random.Random(20261121)
    uri = store.uri(f"of/{tmp_path.name}")
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, uri, str(tmp_path / "one")], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait.uniform(0.01, 0.4))  # it waits for nothing: any moment will do
        process.send_signal(signal.SIGKILL)
        process.communicate()
        registry = remote("two")
        for version in registry.versions():
            registry.verify(version)
        assert (current := registry.current()) is None or current in registry.versions()
        shutil.rmtree(tmp_path / "two", ignore_errors=True)
    assert remote("two").versions(), "at least one of the publishers came to publish"


def test_a_model_from_an_object_store_answers_as_it_did_before(
    remote: Make, days: list[tuple[object, object]]
) -> None:
    model, manifest = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))  # type: ignore[arg-type]
    version = remote().publish(model.save, manifest)
    stored = load(remote("two"))
    assert stored.version == version
    known = model.creates("file", days[1][0])  # type: ignore[arg-type]
    expected = model.predict(known, "rules")
    found = stored.model.predict(known, "rules")
    assert all(found[key].equals(expected[key]) for key in expected)


@pytest.mark.parametrize("uri", ["nothing://here", "s3://"])
def test_a_place_that_is_no_file_system_is_refused_by_name(uri: str, tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=f"{uri[:5]}.*expected a file system's URI"):
        Registry(uri, cache=tmp_path)
