"""Which suffixes are hot and which are cold, by counted lives.

Tests also layout_hint/f2fs/births.py.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from birthmark.layout_hint.f2fs.births import LOCK, REWRITTEN, SHORT
from birthmark.layout_hint.f2fs.learned import MKFS_ROOM, learn
from birthmark.predictor.models.components.counts import count
from birthmark.predictor.models.rules.set import RuleModels

Births = dict[bytes, tuple[int, dict[str, int]]]
"""By name: how many births, and how many of them had each predicate."""


class Counted:
    """A model that has counted births, and nothing else."""

    def __init__(self, births: Births, keys: tuple[str, ...] = (SHORT, LOCK, REWRITTEN)) -> None:
        names = pa.array([n for n, (births_, _) in births.items() for _ in range(births_)])
        labels = {
            key: pa.array([k < had.get(key, 0) for n, had in births.values() for k in range(n)])
            for key in keys
        }
        self.rules = RuleModels.from_counts(count(names, labels, True), prefix=True)
        self.parameters: dict[str, Any] = {
            "bound": 0.01,
            "false_negative_bound": 0.01,
            "confidence": 0.95,
        }

    def of_kind(self, kind: str) -> RuleModels:
        assert kind == "rules"
        return self.rules


def lists_of(births: Births, hot: bool = True) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lists = learn(Counted(births), hot=hot).lists
    return lists.cold, lists.hot


def test_suffixes_of_files_with_data_that_die_young_are_hot_and_of_those_that_stay_cold() -> None:
    births: Births = {
        b"a.tmp": (500, {SHORT: 498}),
        b"b.lock": (500, {SHORT: 500, LOCK: 500}),  # no data: there is nothing to place
        b"c.html": (500, {SHORT: 1}),
        b"d.log": (500, {REWRITTEN: 480}),  # stays, but its data do not
        b"e.mix": (500, {SHORT: 200}),
        b"plain": (500, {SHORT: 500}),
    }
    assert lists_of(births) == (("html",), ("tmp",))


def test_where_small_pieces_are_hot_nothing_else_is_and_more_is_cold() -> None:
    births: Births = {
        b"a.tmp": (500, {SHORT: 498}),
        b"b.more": (500, {SHORT: 200}),
        b"c.half": (500, {SHORT: 240}),  # not more than half for sure
        b"d.log": (500, {REWRITTEN: 480}),
    }
    assert lists_of(births, hot=False) == (("more",), ())
    assert lists_of(births) == ((), ("tmp",))


def test_the_evidence_is_counted_by_the_kernels_rule_of_what_a_name_has() -> None:
    births: Births = {
        b"a.out": (400, {SHORT: 400}),
        b"b.o": (400, {}),
        b"X.OUT.3": (50, {SHORT: 50}),
    }
    cold, hot = lists_of(births)
    assert hot == ("out",)
    assert cold == (), "the suffix o is of the names with out, too"
    (suffix,) = learn(Counted(births), hot=True).suffixes
    assert (suffix.births, suffix.agree) == (450, 450)
    assert 0.99 < suffix.lower < 1


def test_a_number_is_no_suffix_for_it_says_nothing_of_the_files_to_come() -> None:
    assert lists_of({b"tmp.31415": (900, {SHORT: 900}), b"a.c": (900, {})}) == (("c",), ())


def test_a_list_is_wrong_of_no_more_births_than_the_bound_allows() -> None:
    births: Births = {
        b"a.sure": (300, {SHORT: 299}),
        b"b.likely": (300, {SHORT: 280}),
        b"c.kept": (400, {}),
    }
    learned = learn(Counted(births), hot=True)
    assert learned.lists.hot == ("sure",), "20 of 1,000 are more than 1%"
    assert (learned.hot.births, learned.hot.wrong, learned.births) == (300, 1, 1000)
    assert learned.hot.upper <= learned.hot.bound == 0.01
    loose = Counted(births)
    loose.parameters["bound"] = 0.05
    assert learn(loose, hot=True).lists.hot == ("sure", "likely")


def test_the_cold_list_is_wrong_of_files_written_over_and_not_of_those_that_die_young() -> None:
    births: Births = {
        b"a.kept": (300, {REWRITTEN: 1}),
        b"b.young": (300, {SHORT: 100}),
        b"c.log": (400, {REWRITTEN: 100}),
    }
    learned = learn(Counted(births))
    assert set(learned.lists.cold) == {"kept", "young"}, "100 of 1,000 are more than 1%"
    assert (learned.cold.births, learned.cold.wrong) == (600, 1)
    assert learned.cold.upper <= learned.cold.bound == 0.01


def test_a_suffix_of_few_births_is_not_sure() -> None:
    assert lists_of({b"a.once": (1, {SHORT: 1}), b"b.c": (500, {})}) == (("c",), ())


def test_there_are_no_more_suffixes_than_a_superblock_has_room_for_those_of_most_births_first() -> (
    None
):
    births: Births = {b"f.x%02d" % n: (20 + n, {SHORT: 20 + n}) for n in range(80)}
    learned = learn(Counted(births), hot=True)
    assert len(learned.suffixes) == 64
    assert learned.lists.hot[0] == "x79"
    assert learned.hot.births == sum(20 + n for n in range(16, 80))
    assert learned.mkfs_options() == "-E " + ",".join(f"x{79 - n}" for n in range(MKFS_ROOM))


def test_where_the_model_abstains_no_suffix_is_hot() -> None:
    model = Counted({b"a.tmp": (500, {SHORT: 500}), b"b.c": (500, {})})
    assert learn(model, [SHORT], hot=True).lists.hot == ()
    assert learn(model, [SHORT], hot=True).lists.cold == ("c",)


def test_a_model_that_has_not_learned_what_is_asked_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a model that has learned HotWrite"):
        learn(Counted({b"a.c": (5, {})}, (SHORT, LOCK)))
