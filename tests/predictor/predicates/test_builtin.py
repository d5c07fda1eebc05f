"""The built-in predicates are those of thesis Tables 6.4 to 6.8; `test_labels.py` has labels."""

from __future__ import annotations

import pickle

import pyarrow as pa

from birthmark.data.schema import FILES
from birthmark.predictor.predicates import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.builtin import outcome
from tests.builders.lives import files_of, life


def test_the_registries_hold_the_predicates_of_the_tables_in_their_order():
    table_6_5 = (
        "lock size=zero 0<size<=16k 0<size<=64k 0<size<1M size>16k size>64k size>1M amtime<=0 "
        "amtime>0 lifespan<=1 lifespan<=5 lifespan<=30 1<lifespan<=30 lifespan>1 lifespan>5 "
        "write-only"
    )
    table_6_8 = "lock size=zero lifespan<=1 lifespan<=5 lifespan<=30"
    assert list(FILE_PREDICATES) == [*table_6_5.split(), "read-only"]
    assert list(NAME_PREDICATES) == table_6_8.split()
    assert [p.key for p in NAME_PREDICATES.values()] == [f"name:{n}" for n in table_6_8.split()]
    assert FILE_PREDICATES["lock"].source == "thesis Table 6.4"


def test_every_predicate_answers_a_whole_table_at_once_and_can_be_sent_to_another_process():
    lives = files_of(life(b"a", 0, 1, max_size=0), life(b"b", 0, end=2, writes=1))
    for predicate in pickle.loads(pickle.dumps(list(FILE_PREDICATES.values()))):
        answers = predicate.evaluate(lives)
        assert isinstance(answers, pa.BooleanArray)
        assert len(answers) == 2
        assert len(predicate.evaluate(FILES.empty_table())) == 0


def test_the_predicates_of_the_thesis_have_words_and_others_have_none() -> None:
    assert outcome("lifespan<=5") == outcome("name:lifespan<=5") == "gone within 5 s"
    assert outcome("mine") is None
    keys = [p.key for p in (*FILE_PREDICATES.values(), *NAME_PREDICATES.values())]
    assert [key for key in keys if outcome(key) is None and "Hot" not in key] == []
