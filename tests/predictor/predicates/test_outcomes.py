from __future__ import annotations

from birthmark.predictor.predicates import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.outcomes import outcome


def test_the_predicates_of_the_thesis_have_words_and_others_have_none() -> None:
    assert outcome("lifespan<=5") == outcome("name:lifespan<=5") == "gone within 5 s"
    assert outcome("mine") is None
    keys = [p.key for p in (*FILE_PREDICATES.values(), *NAME_PREDICATES.values())]
    assert [key for key in keys if outcome(key) is None and "Hot" not in key] == []
