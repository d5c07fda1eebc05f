from __future__ import annotations

from birthmark.predictor.models.rules.kind import in_words


def test_a_rule_is_told_with_those_that_speak_against_it() -> None:
    against = {"component": "c$", "n_m": 1.0, "n_a": 12_000.0, "upper": 0.01}
    rule: dict[str, object] = {"component": "^conftest", "n_m": 20.0, "n_a": 21.5, "lower": 0.8}
    said = in_words({**rule, "against": [against]})
    assert said == "^conftest  in 20 of 21.5 files; against it c$  in 1 of 12,000"
    assert in_words({**rule, "against": []}) == "^conftest  in 20 of 21.5 files"
