"""Tests also training/registry/manifests.py, training/registry/storage.py."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from birthmark.training.registry.manifests import base_version
from birthmark.training.registry.object_store import cache_directory
from birthmark.training.registry.versions import (
    FORMAT,
    Registry,
    RegistryError,
    is_refresh,
    with_refresh,
)

NIGHT = datetime(2026, 11, 21, 7, 45, tzinfo=UTC)


def parts(text: str) -> Callable[[Path], None]:
    def write(directory: Path) -> None:
        (directory / "name").mkdir()
        (directory / "name" / "rules.parquet").write_text(text)
        (directory / "model.json").write_text("{}")

    return write


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "registry", clock=lambda: NIGHT)


def served(registry: Registry) -> str:
    """Read what a service would: the published version's part, after its check."""
    version = registry.current()
    assert version is not None
    registry.verify(version)
    return (registry.directory(version) / "name" / "rules.parquet").read_text()


def test_an_empty_registry_has_no_versions_and_reading_it_writes_nothing(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "nowhere")
    assert registry.current() is None
    assert registry.versions() == []
    assert not registry.path.exists()


def test_a_user_without_a_home_directory_learns_what_names_one_for_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "BIRTHMARK_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    with pytest.raises(ValueError, match="copies of versions in BIRTHMARK_CACHE; found none"):
        cache_directory()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "birthmark"


def test_a_published_version_is_current_and_its_manifest_says_what_it_holds(
    registry: Registry,
) -> None:
    version = registry.publish(parts("a"), {"seed": 7})
    assert version.startswith("20261121T074500Z-")
    assert registry.current() == version
    manifest = registry.manifest(version)
    assert manifest["seed"] == 7
    assert manifest["format"] == FORMAT
    assert manifest["created"] == "2026-11-21T07:45:00+00:00"
    # sha256 of the letter a: FIPS 180-4, as `printf a | sha256sum` prints it.
    assert manifest["parts"]["name/rules.parquet"] == {
        "size": 1,
        "sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    }


def test_a_stored_version_leaves_the_current_one_current(registry: Registry) -> None:
    first = registry.publish(parts("a"), {})
    second = registry.store(parts("b"), {})
    assert registry.versions() == [first, second]
    assert registry.current() == first
    registry.verify(second)


def test_versions_sort_in_the_order_of_storing_though_the_clock_stands_or_goes_back(
    tmp_path: Path,
) -> None:
    times = iter([NIGHT, NIGHT, NIGHT - timedelta(days=1), NIGHT + timedelta(days=1)])
    registry = Registry(tmp_path, clock=lambda: next(times))
    stored = [registry.store(parts(text), {}) for text in "abca"]
    assert registry.versions() == stored


def test_going_back_makes_the_earlier_version_current(registry: Registry) -> None:
    first = registry.publish(parts("a"), {})
    registry.publish(parts("b"), {})
    registry.rollback(first)
    assert served(registry) == "a"


def test_going_back_to_a_damaged_or_missing_version_is_refused(registry: Registry) -> None:
    first = registry.publish(parts("a"), {})
    second = registry.publish(parts("b"), {})
    (registry.directory(first) / "model.json").write_text("[]")
    with pytest.raises(RegistryError, match=r"model\.json: expected .*, found "):
        registry.rollback(first)
    for name in ("20200101T000000Z-000000", "../versions", ""):
        with pytest.raises(RegistryError, match="holds no version"):
            registry.rollback(name)
    assert registry.current() == second


def test_without_a_name_one_goes_back_to_what_was_published_before(registry: Registry) -> None:
    first, second, third = (registry.publish(parts(text), {}) for text in "abc")
    aside = registry.store(parts("d"), {"decision": {"publish": False}})
    assert registry.rollback() == second
    assert registry.rollback() == first
    with pytest.raises(RegistryError, match="expected an earlier version, found none"):
        registry.rollback()
    registry.make_current(aside)
    registry.make_current(third)
    assert registry.rollback() == aside
    assert registry.current() == aside


def test_a_registry_without_a_history_goes_back_to_the_newest_that_was_meant_to_be_published(
    registry: Registry,
) -> None:
    first = registry.publish(parts("a"), {})
    registry.store(parts("b"), {"decision": {"publish": False}})
    registry.publish(parts("c"), {})
    (registry.path / "history").unlink()
    assert registry.previous() == first


def test_a_pinned_version_is_published_and_stays_until_it_is_unpinned(registry: Registry) -> None:
    first, second = (registry.publish(parts(text), {}) for text in "ab")
    registry.pin(first)
    assert (registry.pinned(), registry.current()) == (first, first)
    for publish in (
        lambda: registry.publish(parts("c"), {}),
        lambda: registry.make_current(second),
        lambda: registry.rollback(second),
    ):
        with pytest.raises(RegistryError, match=f"pinned: {first} is pinned"):
            publish()
    assert registry.versions() == [first, second]
    assert registry.current() == first
    third = registry.store(parts("c"), {})
    registry.unpin()
    registry.make_current(third)
    assert (registry.pinned(), registry.current()) == (None, third)


def test_nothing_is_pinned_where_nothing_is_published(registry: Registry) -> None:
    with pytest.raises(RegistryError, match="expected a published version, found none"):
        registry.pin()
    assert not registry.path.exists()


def test_pruning_leaves_the_newest_and_whatever_is_current_pinned_or_gone_back_to(
    registry: Registry,
) -> None:
    oldest, older, pinned, old, new, newest = (registry.store(parts(c), {}) for c in "abcdef")
    for version in (oldest, older):
        registry.make_current(version)
    registry.pin(pinned)
    assert registry.previous() == older
    going = [oldest, old, new]
    assert registry.prune(1, dry_run=True) == going
    assert len(registry.versions()) == 6
    assert registry.prune(1) == going
    assert registry.versions() == [older, pinned, newest]
    assert registry.prune(1) == []
    for version in registry.versions():
        registry.verify(version)
    assert registry.current() == pinned


@pytest.mark.parametrize("keep", [5, 6, 9, 10, 100])
def test_pruning_leaves_all_where_there_are_no_more_than_are_to_stay(
    registry: Registry, keep: int
) -> None:
    stored = [registry.publish(parts(text), {}) for text in "abcde"]
    assert registry.prune(keep) == []
    assert registry.versions() == stored


def test_pruning_that_crashed_leaves_whole_versions(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in "abcd":
        registry.publish(parts(text), {})
    for step in range(20):
        with monkeypatch.context() as patch:
            next(cut_power(patch, after=step))
            try:
                registry.prune(1)
                break
            except PowerCutError:
                pass
        for version in registry.versions():
            registry.verify(version)
    assert len(registry.versions()) == 2


def change_a_part(directory: Path) -> None:
    (directory / "name" / "rules.parquet").write_text("z")


def remove_a_part(directory: Path) -> None:
    (directory / "name" / "rules.parquet").unlink()


def change_a_figure(directory: Path) -> None:
    path = directory / "manifest.json"
    path.write_text(path.read_text().replace("91.25", "99.25"))


def cut_the_manifest(directory: Path) -> None:
    path = directory / "manifest.json"
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (change_a_part, r"rules\.parquet: expected .*, found "),
        (remove_a_part, r"rules\.parquet: expected "),
        (change_a_figure, r"manifest\.json: expected contents with fingerprint"),
        (cut_the_manifest, r"manifest\.json: expected a manifest in JSON"),
    ],
)
def test_a_damaged_version_is_refused_with_the_name_of_the_damaged_file(
    registry: Registry, damage: Callable[[Path], None], named: str
) -> None:
    version = registry.publish(parts("a"), {"correct": 91.25})
    registry.verify(version)
    damage(registry.directory(version))
    with pytest.raises(RegistryError, match=named):
        registry.verify(version)


def test_a_manifest_in_a_newer_format_is_refused_with_both_formats_numbers(
    registry: Registry,
) -> None:
    version = registry.publish(parts("a"), {})
    path = registry.directory(version) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": FORMAT + 1}))
    expected = f"expected a format up to {FORMAT}, found {FORMAT + 1}"
    with pytest.raises(RegistryError, match=expected):
        registry.manifest(version)


def test_a_pointer_that_names_no_version_is_refused(registry: Registry) -> None:
    registry.publish(parts("a"), {})
    (registry.path / "current").write_text("../../etc\n")
    with pytest.raises(RegistryError, match="current: expected a version's name"):
        registry.current()


def test_a_model_without_parts_or_with_a_manifest_of_its_own_is_refused(
    registry: Registry,
) -> None:
    with pytest.raises(RegistryError, match="expected parts"):
        registry.publish(lambda directory: None, {})
    with pytest.raises(RegistryError, match="expected parts"):
        registry.publish(lambda directory: (directory / "manifest.json").touch(), {})
    assert registry.versions() == []


def test_a_manifest_that_names_parts_elsewhere_is_refused(registry: Registry) -> None:
    version = registry.publish(parts("a"), {})
    path = registry.directory(version) / "manifest.json"
    text = path.read_text().replace('"model.json"', '"../../current"')
    path.write_text(text)
    with pytest.raises(RegistryError, match=r"expected parts below it, found '\.\./\.\./current'"):
        registry.verify(version)


def test_a_manifest_that_json_cannot_hold_is_refused_and_changes_nothing(
    registry: Registry,
) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        registry.publish(parts("a"), {"correct": float("nan")})
    assert registry.current() is None


class PowerCutError(Exception):
    """Stands for the machine's stopping."""


def cut_power(monkeypatch: pytest.MonkeyPatch, after: int) -> Iterator[int]:
    """Make the call numbered `after` to the disk's flush or rename, and all later ones, fail."""
    calls = 0
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def failing(*arguments: Any, real: Any = real) -> Any:
            nonlocal calls
            calls += 1
            if calls > after:
                raise PowerCutError
            return real(*arguments)

        monkeypatch.setattr(os, name, failing)
    yield calls


def test_a_crash_before_any_flush_or_rename_leaves_a_whole_version_published(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.publish(parts("old"), {})
    for step in range(50):
        with monkeypatch.context() as patch:
            next(cut_power(patch, after=step))
            try:
                registry.publish(parts(f"new {step}"), {})
                break
            except PowerCutError:
                pass
        assert served(registry) in ("old", f"new {step}")
        for version in registry.versions():
            registry.verify(version)
    else:
        pytest.fail("never published")
    assert step >= 8, "parts, directories, rename, pointer: each is a place to crash"
    assert served(registry) == f"new {step}"


def test_leftovers_of_a_crash_are_cleared_by_the_next_publisher(registry: Registry) -> None:
    def crash(directory: Path) -> None:
        (directory / "half").write_text("half of a model")
        raise PowerCutError

    with pytest.raises(PowerCutError):
        registry.publish(crash, {})
    assert registry.versions() == []
    version = registry.publish(parts("a"), {})
    assert set(registry.manifest(version)["parts"]) == {"model.json", "name/rules.parquet"}
    assert [path.name for path in (registry.path / "versions").iterdir()] == [version]


PUBLISHER = """
import sys
from pathlib import Path
from birthmark.training.registry import Registry
registry = Registry(sys.argv[1])
def write(directory):
    for number in range(4):
        (directory / f"part{number}").write_bytes(b"x" * 100_000)
print("ready", flush=True)
while True:
    registry.publish(write, {})
"""


def test_a_publisher_killed_at_any_moment_leaves_only_whole_versions(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "registry")
    wait = random.Random(20261121)
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, str(registry.path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait.uniform(0.002, 0.25))  # it waits for nothing: any moment will do
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for version in registry.versions():
            registry.verify(version)
        assert (current := registry.current()) is None or current in registry.versions()
    assert registry.versions(), "at least one of the publishers came to publish"


def test_publishers_at_the_same_time_take_turns(tmp_path: Path) -> None:
    def publish(text: str) -> None:
        registry = Registry(tmp_path / "registry", clock=lambda: NIGHT)
        for number in range(5):
            registry.publish(parts(f"{text} {number}"), {})

    threads = [threading.Thread(target=publish, args=(text,)) for text in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    registry = Registry(tmp_path / "registry")
    assert len(registry.versions()) == 15
    for version in registry.versions():
        registry.verify(version)
    assert registry.current() == registry.versions()[-1]


def test_a_refresh_is_named_after_its_base_and_is_no_trained_version(registry: Registry) -> None:
    base = registry.publish(parts("base"), {})
    later = Registry(registry.path, clock=lambda: NIGHT + timedelta(hours=1))
    refresh = later.refresh(parts("refreshed"), registry.manifest(base))
    assert (registry.current(), registry.base()) == (refresh, base)
    assert served(registry) == "refreshed"
    assert (registry.versions(), registry.refreshes()) == ([base], [refresh])
    assert with_refresh(registry) == [base, refresh]
    created = registry.manifest(base)["created"]
    about = registry.manifest(refresh)
    assert (about["created"], about["refreshed_at"]) == (created, "2026-11-21T08:45:00+00:00")
    assert (base_version(refresh), is_refresh(refresh), is_refresh(base)) == (base, True, False)
    newer = registry.publish(parts("newer"), {})
    assert registry.previous() == base
    assert with_refresh(registry) == [base, newer]


def test_a_damaged_refresh_is_refused(registry: Registry) -> None:
    base = registry.publish(parts("base"), {})
    refresh = registry.refresh(parts("refreshed"), registry.manifest(base))
    (registry.directory(refresh) / "model.json").write_text("{ }")
    with pytest.raises(RegistryError, match=r"model\.json"):
        registry.verify(refresh)
