"""Words of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from birthmark.data.scan import words


def test_times_are_utc_unless_they_say_otherwise() -> None:
    assert words.time("2026-11-21T05:38:30") == words.time("2026-11-21 07:38:30+02:00")
    assert words.time("1795239510.5") == 1_795_239_510_500_000
    assert words.time("2026-11-21") == 1_795_219_200_000_000


def test_keys_have_the_order_of_the_columns_and_other_words() -> None:
    assert words.keys("user,client") == ["client", "uid"]
    assert words.keys("none") == []


def test_operations_are_those_of_the_tables() -> None:
    assert words.operations("read,open_confirm") == ["read", "open_confirm"]
    assert words.operations("all") is None


@pytest.mark.parametrize("read", [words.operations, words.row])
def test_an_operation_that_there_is_not_is_refused_with_one_that_is_like_it(read: Any) -> None:
    with pytest.raises(ValueError, match=r"'loockup' is no operation .did you mean 'lookup'"):
        read("loockup")


def test_rows_of_operations_are_chosen_by_pattern_and_others_too() -> None:
    assert [words.row(word) for word in ("other", "read*")] == ["other", "read*"]


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((words.time, text) for text in ("noon", "5", "2026-13-01")),
        *((words.keys, text) for text in ("colour", "client,uids")),
        *((words.numbers, text) for text in ("root", "1,,2", "4294967296", "")),
        *((words.zone, text) for text in ("Mars/Olympus", "../etc/passwd", "")),
    ],
)
def test_other_words_are_refused(read: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text.split(",")[-1])[:12]) + "|expected"):
        read(text)
