"""Predicates of heat are built in, too; `test_labels.py` has labels."""

from __future__ import annotations

import pickle

import pyarrow as pa

from birthmark.predictor.predicates import BUILT_IN, HEAT_PREDICATES
from tests.builders.lives import files_of, life


def test_every_built_in_predicate_has_a_key_of_its_own_and_a_source():
    assert {"HotName", "HotWrite", "directory:HotDir", "lock", "name:lock"} <= set(BUILT_IN)
    assert BUILT_IN["HotName"].source.startswith("thesis chapter 7")
    assert all(key == predicate.key for key, predicate in BUILT_IN.items())


def test_they_answer_whole_tables_and_can_be_sent_to_another_process():
    lives = files_of(life(b"a", 0, 1), life(b"b", 0, 2))
    for predicate in pickle.loads(pickle.dumps(list(HEAT_PREDICATES.values()))):
        answers = predicate.evaluate(lives)
        assert isinstance(answers, pa.BooleanArray)
        assert len(answers) == 2
        assert len(predicate.evaluate(lives.slice(2))) == 0
