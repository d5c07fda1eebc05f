"""Counts in words."""

from __future__ import annotations

from birthmark.data.common.plurals import counted


def test_one_of_a_thing_is_not_several() -> None:
    assert counted(1, "datasets") == "1 dataset"
    assert counted(1, "replies without call") == "1 reply without call"


def test_none_and_many_are_plural_with_commas_between_thousands() -> None:
    assert (counted(0, "files"), counted(2000, "entries")) == ("0 files", "2,000 entries")


def test_a_word_that_ends_in_two_s_is_no_plural() -> None:
    assert counted(1, "loss") == "1 loss"
