"""What hints say of files that a dataset shows being made."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from birthmark.layout_hint.replay.conditions import ORACLE, POLICIES
from birthmark.predictor.image.format import plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.storage.what_if.hints import FOLLOWED, REGION, Policy, births, needs_model
from tests.builders.served import dataset, lives

NAME, BEST = FOLLOWED["HotName"], FOLLOWED[ORACLE]
MADE = [
    {"fh": 1, "born": 10, "name": b"inbox.lock", "writes": 0, "max_size": 0, "died": 50},
    {"fh": 2, "born": 20, "name": b"log", "writes": 90, "max_size": 9 << 10},
    {"fh": 3, "born": 30, "name": b"film", "writes": 99, "max_size": 90 << 20},
    {"fh": 4, "name": b"old", "writes": 99, "max_size": 5},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dataset(tmp_path / "d", files=lives(*MADE))


def test_policies_are_those_of_the_layout_replay() -> None:
    assert set(get_args(Policy)) == {*POLICIES, ORACLE} == set(FOLLOWED)
    assert [own for own in get_args(Policy) if not needs_model(own)] == ["Default", ORACLE]
    assert sum(FOLLOWED[name] & BEST for name in POLICIES) == 0


def test_an_oracle_takes_what_is_written_most_for_its_room(folder: Path) -> None:
    assert births(folder, "10.0.0.1", None, REGION).hints.tolist() == [BEST, BEST, 0]
    assert births(folder, "10.0.0.1", None, 128 << 20).hints.tolist() == [BEST] * 3


def test_a_model_is_asked_as_an_allocator_asks_it(folder: Path) -> None:
    image = folder / "image"
    image.write_bytes(
        plain_image(["HotName"], [RulesSection([ImageRule("HotName", "last", b"lock", least=1)])])
    )
    found = births(folder, "10.0.0.1", str(image), REGION)
    assert found.hints.tolist() == [BEST | NAME, BEST, 0]


def test_without_files_that_were_made_there_is_nothing_to_hint_at(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d", files=lives(MADE[-1]))
    with pytest.raises(ValueError, match=r"d: expected files that were made in it, .* found none"):
        births(folder, "10.0.0.1", None, REGION)
