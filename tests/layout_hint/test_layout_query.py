"""The replay in query mode: its creates ask a service through the hook's cache, and may wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hint_service import HintService
from tests.layout_hint.replays import create, later, run, trace, write
from tests.serving.services import publish, served, settings_for

LONG = 60_000.0  # milliseconds
NAMES = (b"u1.lock", b"app1.log", b"u2.lock", b"page1.html", b"u3.lock", b"app2.log")
REGION = {"start": 100 << 20, "length": 1 << 20, "mode": "reserved"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HintService, bytes]]:
    """Yield a service, and the image by which it answers."""
    folder = tmp_path_factory.mktemp("service")
    settings = settings_for(folder / "registry", uds=folder / "socket")
    publish(settings.registry, heat=True)
    with served(settings) as client:
        yield HintService(str(settings.uds)), client.get("/v1/model/image").content


def replayed(
    image: bytes | None = None, service: HintService | None = None, **config: Any
) -> tuple[dict[str, Any], dict[int, Any]]:
    """Replay creates and writes of some files, with all hints followed."""
    rows = []
    for number, name in enumerate(NAMES, start=1):
        owner = {"mode": 0o600, "uid": 1, "gid": 1}
        rows += [create(number, name, number, **owner), write(number, number, 0, 4096)]
    found = trace([*rows, later(200)])
    summary, counts, _ = run(found, image=image, service=service, region=REGION, policy=7, **config)
    return summary, counts


def test_creates_that_wait_are_placed_as_by_the_image(service: tuple[HintService, bytes]) -> None:
    asked, image = service
    query = {"wait": True, "deadline_ms": LONG}
    waited, counts = replayed(service=asked, query=query)
    by_table, expected = replayed(image)
    assert waited["hook"] == by_table["hook"]
    assert counts == expected
    assert by_table["hook"]["hinted"] == 5
    # a kind asks once: a number in a name tells no kinds apart
    assert waited["books"]["sync"]["answered"] == 3
    assert waited["books"]["counters"]["cache_hits"] == 3


def test_the_first_create_of_each_kind_is_cold_if_none_waits(
    service: tuple[HintService, bytes],
) -> None:
    summary, counts = replayed(service=service[0])
    # of locks, logs and pages: all but the first, if they are hot
    assert (summary["hook"]["asked"], summary["hook"]["hinted"]) == (6, 2 + 1)
    assert summary["books"]["sync"] is None
    inside = range(REGION["start"] // 4096, (REGION["start"] + REGION["length"]) // 4096)
    assert any(block in inside for block in counts)
    assert counts != replayed()[1]


def test_without_its_service_a_replay_is_as_without_hints(tmp_path: Path) -> None:
    _, by_default = replayed()
    for wait in (True, False):
        query = {"wait": wait, "deadline_ms": LONG}
        summary, counts = replayed(service=HintService(tmp_path / "nobody"), query=query)
        assert (summary["hook"]["asked"], summary["hook"]["hinted"]) == (6, 0)
        assert counts == by_default
