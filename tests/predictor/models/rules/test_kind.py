from __future__ import annotations

from birthmark.predictor.models.rules.kind import in_words


def test_a_rule_is_described_with_those_that_contradict_it() -> None:
    against = {"component": "c$", "n_m": 1.0, "n_a": 12_000.0, "upper": 0.01}
    rule: dict[str, object] = {"component": "^conftest", "n_m": 20.0, "n_a": 21.5, "lower": 0.8}
    phrase = in_words({**rule, "against": [against]})
    assert (
        phrase
        == "as 20 of 21.5 files named conftest* were; against it, 1 of 12,000 files named *.c were"
    )
    assert in_words({**rule, "against": []}) == "as 20 of 21.5 files named conftest* were"
    few = in_words({**rule, "n_m": 3.0, "n_a": 3.0, "against": [{**against, "n_a": 3.0}]})
    assert few == "fewer than 8 training files named conftest* show it"
