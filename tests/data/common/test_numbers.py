"""Every number that comes from outside is finite, bounded, and a number."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from birthmark.data.common import numbers
from birthmark.data.schema import FIRST_US, LAST_US

TYPES: dict[str, Any] = {
    name: getattr(numbers, name)
    for name in ("Count", "Instant", "Seconds", "Fraction", "Share", "Score")
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(
    "written", ["NaN", "Infinity", "-Infinity", "1e400", "true", "false", '"1"', "[1]", "null"]
)
def test_only_finite_numbers_are_accepted(name: str, written: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(TYPES[name]).validate_json(written)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("written", ["-1e30", "1e30", "1" + "0" * 400, "-1" + "0" * 400])
def test_numbers_beyond_the_bounds_are_refused(name: str, written: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(TYPES[name]).validate_json(written)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("Count", 0, 2**64 - 1),
        ("Instant", FIRST_US, LAST_US),
        ("Seconds", 0, 1e12),
        ("Fraction", 0, 1),
        ("Share", 0.0001, 0.9999),
        ("Score", 0, 1 + 2**-52),
    ],
)
def test_the_bounds_themselves_are_taken(name: str, least: float, most: float) -> None:
    own = TypeAdapter(TYPES[name])
    assert (own.validate_python(least), own.validate_python(most)) == (least, most)


@pytest.mark.parametrize("name", ["Count", "Instant"])
def test_a_part_of_one_is_no_count(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(TYPES[name]).validate_json("7.5")
