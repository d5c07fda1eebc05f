from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from birthmark.predictor.models.rules.estimator import RuleModel
from birthmark.predictor.models.rules.model import ANY, EVIDENCE, interval
from birthmark_native import rank_components

PIECES = st.sampled_from([b"", b"a", b"b", b"lock", b"#pico", b"abcdefg"])
NAMES = st.lists(PIECES, min_size=1, max_size=4).map(b".".join)
ROWS = st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=60)
THRESHOLDS = [0.05, 0.2, 0.5, 0.8, 0.95]


def table(names: list[bytes | None]) -> pa.Table:
    return pa.table({"name": pa.array(names, pa.binary())})


def columns(rows: list[tuple[bytes, bool]]) -> tuple[pa.Table, pa.Array]:
    return table([name for name, _ in rows]), pa.array([label for _, label in rows], pa.bool_())


def trained(rows: list[tuple[bytes, bool]], **parameters: object) -> RuleModel:
    return RuleModel(**parameters).fit(*columns(rows))


def scores(model: RuleModel, names: list[bytes | None]) -> list[float]:
    return model.predict_proba(table(names))[:, 1].tolist()


def without(model: RuleModel, row: int) -> RuleModel:
    rules = pa.concat_tables([model.rules_.slice(0, row), model.rules_.slice(row + 1)])
    return RuleModel.from_rules(rules, **model.get_params())


def decision(rules: list[dict], name: bytes, threshold: float, prefix: bool) -> bool:
    """Return the decision of ``rules`` cut at ``threshold``, as the class describes it."""
    cut = {r["component"]: r["lower"] >= threshold for r in rules if r["lower"] >= threshold}
    cut |= {r["component"]: False for r in rules if r["upper"] < threshold}
    for role in [*rank_components(name, prefix), [ANY]]:
        verdicts = [cut[component] for component in role if component in cut]
        if verdicts:
            return all(verdicts)
    return False


def test_the_limits_are_those_of_wilson():
    # Wilson 1927, equation 8: the p at which n_M is z standard deviations from n_A p
    lower, upper = interval(np.array([3.0, 0.0, 5.0, 0.0]), np.array([8.0, 4.0, 5.0, 0.0]), 0.95)
    z = norm.ppf(0.95)
    for n_m, n_a, p in [(3, 8, lower[0]), (3, 8, upper[0]), (0, 4, upper[1]), (5, 5, lower[2])]:
        assert abs(n_m - n_a * p) == pytest.approx(z * np.sqrt(n_a * p * (1 - p)))
    assert [lower[1], upper[2], lower[3], upper[3]] == [0, 1, 0, 1]


def test_more_evidence_is_surer_at_the_same_share():
    rows = [(b"%d.x" % i, True) for i in range(60)] + [(b"%d.y" % i, True) for i in range(3)]
    rows += [(b"%d.z" % i, False) for i in range(100)]
    sure, less, no, unknown = scores(trained(rows), [b"n.x", b"n.y", b"n.z", b"n"])
    assert sure > 0.95 > less > 0.5 > unknown > no


def test_the_whole_name_outranks_its_suffix():
    rows = [(b"%d.log" % i, False) for i in range(50)] + [(b"x.log", True)] * 20
    model = trained(rows)
    assert model.predict(table([b"x.log", b"y.log"])).tolist() == [True, False]


def test_of_several_pieces_in_the_middle_a_no_beats_a_yes():
    rows = [(b"%d.yes.%d" % (i, i), True) for i in range(50)]
    rows += [(b"%d.no.%d" % (i, i), False) for i in range(50)]
    assert trained(rows).predict(table([b"x.yes.x", b"x.yes.no.x"])).tolist() == [True, False]


def test_an_unknown_name_gets_the_majority_answer():
    most = [(b"%d" % i, i < 90) for i in range(100)]
    assert trained(most).predict(table([b"new", None])).tolist() == [True, True]
    least = [(name, not label) for name, label in most]
    assert trained(least).predict(table([b"new", None])).tolist() == [False, False]


@settings(deadline=None)
@given(ROWS, st.lists(NAMES, max_size=10), st.booleans())
def test_a_score_of_at_least_a_threshold_is_the_decision_of_the_rules_cut_there(rows, new, prefix):
    model = trained(rows, prefix=prefix)
    rules = model.rules_.to_pylist()
    at = sorted({*THRESHOLDS, *(r["lower"] for r in rules), *(r["upper"] for r in rules)} - {0.0})
    for name, score in zip(new, scores(model, new), strict=True):
        assert [score >= t for t in at] == [decision(rules, name, t, prefix) for t in at]


@settings(deadline=None)
@given(ROWS, st.booleans())
def test_dropped_rules_change_no_score_of_a_learned_name_and_each_that_stays_does(rows, prefix):
    model = trained(rows, prefix=prefix)
    names = sorted({name for name, _ in rows})
    everything = evidence_of_all(rows, prefix)
    unpruned = RuleModel.from_rules(everything, **model.get_params())
    before = scores(model, names)
    assert before == scores(unpruned, names)
    assert all(scores(without(model, i), names) != before for i in range(len(model.rules_)))


def evidence_of_all(rows: list[tuple[bytes, bool]], prefix: bool) -> pa.Table:
    n_a: dict[bytes, float] = {ANY: 0.0}
    n_m: dict[bytes, float] = {}
    for name, label in rows:
        for component in [ANY, *(c for role in rank_components(name, prefix) for c in role)]:
            n_a[component] = n_a.get(component, 0.0) + 1
            n_m[component] = n_m.get(component, 0.0) + label
    a = np.array(list(n_a.values()))
    m = np.array([n_m.get(component, 0.0) for component in n_a])
    return pa.table([list(n_a), a, m, *interval(m, a, 0.9)], schema=EVIDENCE)


@settings(deadline=None)
@given(ROWS, st.lists(NAMES, max_size=5), st.lists(st.sampled_from(THRESHOLDS), max_size=3))
def test_a_condensed_list_decides_the_same_and_needs_each_of_its_rules(rows, new, thresholds):
    whole, model = trained(rows), trained(rows).condense(thresholds, table(new))
    names = sorted({name for name, _ in rows} | set(new))

    def decisions(model: RuleModel) -> list[list[bool]]:
        return [[score >= t for t in thresholds] for score in scores(model, names)]

    assert decisions(model) == decisions(whole)
    assert len(model.rules_) <= len(whole.rules_)
    for row in range(len(model.rules_)):
        assert decisions(without(model, row)) != decisions(whole)


def test_thousands_of_names_that_one_rule_decides_need_one_rule():
    rows = [(b"%d.lock" % i, True) for i in range(3000)] + [
        (b"f%d" % i, False) for i in range(3000)
    ]
    model = trained(rows).condense([0.5])
    assert model.rules_["component"].to_pylist() == [b"lock$"]
    assert model.predict(table([b"n.lock", b"f1", b"g"])).tolist() == [True, False, False]


def test_learning_after_condensing_restores_all_rules():
    rows = [(b"%d.%d" % (i % 7, i % 5), i % 3 == 0) for i in range(100)]
    model = trained(rows[:50]).condense([0.5]).partial_fit(*columns(rows[50:]))
    assert model.rules_.equals(trained(rows).rules_)


@pytest.mark.deep
@settings(deadline=None)
@given(ROWS, ROWS)
def test_learning_in_two_parts_is_learning_at_once_and_forgetting_undoes_it(one, two):
    once, model = trained(one + two), trained(one)
    model.partial_fit(*columns(two))
    assert model.counts_.equals(once.counts_)
    assert model.rules_.equals(once.rules_)
    model.forget(*columns(two))
    assert model.counts_.equals(trained(one).counts_)
    assert model.rules_.equals(trained(one).rules_)


def weights(model: RuleModel) -> dict[bytes, tuple[float, float]]:
    return {r["component"]: (r["n_a"], r["n_m"]) for r in model.counts_.to_pylist()}


@pytest.mark.deep
@settings(deadline=None)
@given(ROWS, ROWS, st.sampled_from([0.0, 1.0, 2.5, 7.0]))
def test_a_row_weighs_half_after_each_half_life(old, new, days):
    model = trained(old, half_life=2.0).age(days).partial_fit(*columns(new))
    expected: dict[bytes, np.ndarray] = {}
    for rows, weight in ((old, 2.0 ** (-days / 2)), (new, 1.0)):
        for component, n in weights(trained(rows)).items():
            expected[component] = expected.get(component, 0) + weight * np.array(n)
    found = weights(model)
    assert found.keys() == expected.keys()
    assert all(found[c] == pytest.approx(tuple(n)) for c, n in expected.items())
    # rows unlearned at their age are gone, whichever came first
    model.forget(*columns(old), days=days)
    assert {c: pytest.approx(n) for c, n in weights(model).items()} == weights(trained(new))


def test_ageing_in_steps_is_ageing_at_once_and_in_the_end_forgets():
    rows = [(b"a.x", True), (b"b.x", False)]
    steps, once = trained(rows, half_life=1.0).age(1).age(2), trained(rows, half_life=1.0).age(3)
    assert weights(steps) == weights(once)
    assert weights(once)[b"x$"] == (0.25, 0.125)
    assert weights(trained(rows, half_life=1.0).age(30)) == {}


def test_less_evidence_is_left_as_it_ages():
    rows = [(b"%d.x" % i, True) for i in range(50)]
    young, old = trained(rows, half_life=7.0), trained(rows, half_life=7.0).age(28)
    assert scores(young, [b"n.x"]) > scores(old, [b"n.x"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.age(1), "without a half_life does not age"),
        (lambda m: m.forget(table([b"a.x"]), [True], days=1), "without a half_life does not age"),
        (lambda m: m.set_params(half_life=0).age(1), "half_life must be None or above 0 days"),
        (lambda m: m.set_params(half_life=1).age(-1), "days must be 0 or more"),
        (lambda m: m.forget(table([b"b.x"]), [True]), "cannot forget what was not learned"),
        (lambda m: m.forget(table([b"a.x"]), [False]), "cannot forget what was not learned"),
    ],
)
def test_failed_ageing_or_unlearning_leaves_the_model_unchanged(change, message):
    model = trained([(b"a.x", True), (b"c", False)])
    before = pickle.dumps((model.counts_, model.rules_))
    with pytest.raises(ValueError, match=message):
        change(model)
    assert pickle.dumps((model.counts_, model.rules_)) == before


def test_an_aged_row_has_too_little_weight_to_be_unlearned_as_new():
    model = trained([(b"a.x", True), (b"b.x", False)], half_life=1.0).age(1)
    with pytest.raises(ValueError, match="cannot forget what was not learned"):
        model.forget(table([b"a.x"]), [True])
    assert weights(model.forget(table([b"a.x"]), [True], days=1))[b"x$"] == (0.5, 0.0)


def test_every_learned_row_is_decided_by_the_rule_that_says_so():
    rows = [(b"%d.x" % i, True) for i in range(50)] + [(b"y.x", False)] * 9 + [(b"z", False)] * 70
    decided = trained(rows).condense([0.5]).decided(0.5)
    found = [(r["component"], r["yes"], r["decides"]) for r in decided.to_pylist()]
    assert found == [(b"x$", True, 50.0), (rb"^y\.x$", False, 9.0)]


@pytest.mark.parametrize("level", [0.5, 1.0, 1.5])
def test_a_level_that_makes_no_sense_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be between 0\.5 and 1"):
        RuleModel(level=level).fit(table([b"a"]), [True])


def test_a_model_without_its_counts_predicts_and_does_not_learn():
    model = trained([(b"a.x", True)] * 9 + [(b"a.y", False)] * 9)
    served = RuleModel.from_rules(model.rules_)
    assert served.predict(table([b"b.x", b"b.y"])).tolist() == [True, False]
    for change in (
        lambda: served.partial_fit(table([b"a"]), [True]),
        lambda: served.condense([0.5]),
        lambda: served.decided(0.5),
    ):
        with pytest.raises(ValueError, match="without its counts"):
            change()
