"""100 models published in sequence while clients send requests as fast as they can."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birthmark.serving.answers import json_answers
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from tests.faults.asking import ask, asking, version
from tests.serving.services import publish, started
from tests.waiting import eventually

pytestmark = pytest.mark.deep

SWAPS = 100
THREADS = 2
SUFFIXES = ("lock", "tmp", "swp")
BODY = json.dumps([{"name": f"x.{suffix}"} for suffix in SUFFIXES] * 3).encode()
HINT = b'{"name": "x.lock"}'
SETTLED = 6
"""Consecutive connections that must meet a version before every worker is assumed to have it."""


def without_model(answer: bytes) -> dict[str, Any]:
    return {key: value for key, value in json.loads(answer).items() if key != "model"}


class Swapped:
    """A registry with versions of three kinds, which know different suffixes."""

    def __init__(self, directory: Path) -> None:
        self.path, self.registry = directory, Registry(directory)
        self.of: dict[str, str] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        self.hints: dict[str, bytes] = {}
        self._stored: list[str] = []
        for suffix in SUFFIXES:
            stored = publish(directory, suffix, heat=True)
            self._stored.append(stored)
            self.of[stored] = suffix
            model = load_model(self.registry)
            assert model.hints is not None
            self.answers[suffix] = without_model(json_answers.predict(model, BODY)[0])
            self.hints[suffix] = b"%d" % json_answers.hint(model.hints, HINT)

    def swap(self, number: int) -> str:
        """Publish a version unlike the current one: new, or every other time a stored one."""
        stored = self._stored[number % len(SUFFIXES)]
        if number % 2:
            self.registry.make_current(stored)
            return stored
        parts, manifest = self.registry.directory(stored), self.registry.manifest(stored)

        def write_parts(directory: Path) -> None:
            shutil.copytree(parts, directory, dirs_exist_ok=True)
            (directory / "manifest.json").unlink()

        new = self.registry.publish(write_parts, manifest | {"swap": number})
        self.of[new] = self.of[stored]
        return new


def test_100_swaps_at_full_rate_fail_no_request_and_each_answer_is_of_one_version(
    tmp_path: Path, tell: Callable[[str], None]
) -> None:
    models = Swapped(tmp_path / "registry")
    assert len({json.dumps(answer) for answer in models.answers.values()}) == len(SUFFIXES)
    assert len(set(models.hints.values())) == 2
    options = ("--threads", str(THREADS), "--poll-seconds", "0.01")
    paths = {"/v1/predictions": BODY, "/v1/hints": HINT}
    with started(models.path, tmp_path, *options) as service:
        began = time.monotonic()
        with asking(service.address, paths) as responses:
            for number in range(SWAPS):
                new = models.swap(number)

                def arrived(new: str = new) -> bool:
                    every = (ask(service.address, "/v1/predictions", BODY) for _ in range(SETTLED))
                    return all(version(answer) == new for _, answer in every)

                assert eventually(arrived, 30), new
                hint = models.hints[models.of[new]]
                assert eventually(lambda h=hint: ask(service.address, "/v1/hints", HINT)[1] == h)
        seconds = time.monotonic() - began
    named = set()
    for status, answer in responses["/v1/predictions"].answers:
        assert status == 200, answer
        named.add(version(answer))
        assert without_model(answer) == models.answers[models.of[version(answer)]]
    assert set(responses["/v1/hints"].answers) == {
        (200, answer) for answer in models.hints.values()
    }
    assert all(not each.broken for each in responses.values())
    assert len(named) > SWAPS / 3
    rates = ", ".join(f"{each.rate:.0f} of {path}" for path, each in responses.items())
    tell(
        f"{SWAPS} swaps in {seconds:.0f} s, {THREADS} threads: {rates} a second, none failed,"
        f" {len(named)} versions named, every answer matches its version"
    )
