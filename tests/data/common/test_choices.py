"""Unknown words are refused, with a suggestion."""

from __future__ import annotations

import pytest

from birthmark.data.common.choices import did_you_mean, expect

PREDICATES = ("lock", "size=zero", "name:lock", "HotName")


def test_a_word_that_there_is_is_taken() -> None:
    expect("predicate", "lock", PREDICATES)


def test_another_is_refused_with_the_one_that_is_like_it_and_with_all_there_are() -> None:
    with pytest.raises(ValueError, match="no predicate") as caught:
        expect("predicate", "lokc", PREDICATES)
    assert str(caught.value) == (
        "'lokc' is no predicate (did you mean 'lock'?):"
        " expected one of lock, size=zero, name:lock, HotName"
    )


def test_nothing_is_proposed_that_is_not_like_it() -> None:
    assert did_you_mean("colour", PREDICATES) == ""


def test_a_word_in_other_letters_may_be_meant() -> None:
    assert did_you_mean("HOTNAME", PREDICATES) == " (did you mean 'HotName'?)"
