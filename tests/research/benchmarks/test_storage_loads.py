"""What the form of the loads is measured with, and the program that fits them."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from benchmarks import storage_loads, storage_places
from birthmark.research.loads import LOADS, Load, read_load


def test_distinguishes_repeats_in_order_from_others() -> None:
    first = np.arange(0, 40, 2) * storage_places.NEAR
    assert storage_places._in_order(np.r_[first, first]) == 1
    assert storage_places._in_order(np.r_[first, first[::-1]]) < 0.1


def test_the_last_episode_that_one_is_near_is_found() -> None:
    starts = np.array([0, 50, 7, 51, 1]) * storage_places.NEAR
    none = storage_places.LATE[-1] + 1
    assert storage_places._rank(starts, storage_places.NEAR).tolist() == [none, none, none, 2, 4]


def test_the_busiest_parts_hold_most() -> None:
    begin = np.array([0, 1, 2, 9 * storage_places.NEAR])
    assert storage_places._busiest(begin)[1] == 0.75


@pytest.mark.parametrize("name", LOADS)
def test_a_load_s_file_is_what_the_fit_would_write(name: str) -> None:
    load = read_load(name)
    again = storage_loads.changed(load, storage_loads.knobs(load)).model_dump()
    for section in ("reads", "writes", "pace"):
        for key, value in load.model_dump()[section].items():
            if key != "again":
                assert again[section][key] == pytest.approx(value, rel=1e-3), key


def test_a_load_s_file_is_read_as_it_was_written() -> None:
    load = read_load("Sm")
    assert Load.model_validate(tomllib.loads(storage_loads.toml(load))) == load
