from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.features import name_components
from birthmark.predictor.models.name.estimator import NameModel
from birthmark.predictor.models.name.model import Rule

PIECES = st.sampled_from([b"", b"a", b"b", b"lock", b"#pico", b"abcdefg"])
NAMES = st.lists(PIECES, min_size=1, max_size=3).map(b".".join)
ROWS = st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=30)


def table(names: list[bytes | None]) -> pa.Table:
    return pa.table({"name": pa.array(names, pa.binary())})


def trained(rows: list[tuple[bytes, bool]], **parameters: object) -> NameModel:
    names, labels = [name for name, _ in rows], [label for _, label in rows]
    return NameModel(**parameters).fit(table(names), pa.array(labels, pa.bool_()))


def rules(model: NameModel) -> dict[bytes, tuple[int, int]]:
    return {r["component"]: (r["n_m"], r["n_a"]) for r in model.rules_.to_pylist()}


def oracle(rows: list[tuple[bytes, bool]], minfrac: float, mincount: int, prefix: bool):
    """Return the set M of Figure 6.3, read line by line, with n_M and n_A."""
    a: dict[bytes, int] = {}
    m: dict[bytes, int] = {}
    for name, satisfies in rows:
        for component in set(name_components(name, prefix)):
            a[component] = a.get(component, 0) + 1
            if satisfies:
                m[component] = m.get(component, 0) + 1
    m = {c: n for c, n in m.items() if not n / a[c] < minfrac}
    m = {c: n for c, n in m.items() if not n < mincount}
    return {c: (n, a[c]) for c, n in m.items()}


PARAMETERS = st.fixed_dictionaries(
    {
        "minfrac": st.sampled_from([0.0, 0.5, 0.8, 1.0]),
        "mincount": st.sampled_from([0, 1, 3, 5]),
        "prefix": st.booleans(),
    }
)


@settings(deadline=None)
@given(ROWS, st.lists(NAMES, max_size=10), PARAMETERS)
def test_the_model_is_that_of_figure_6_3_read_line_by_line(rows, new, parameters):
    model = trained(rows, **parameters)
    expected = oracle(rows, **parameters)
    assert rules(model) == expected
    answers = model.predict(table(new)).tolist()
    prefix = parameters["prefix"]
    assert answers == [not expected.keys().isdisjoint(name_components(n, prefix)) for n in new]


def test_the_zero_example_of_section_6_3_4():
    # 100 empty files named *.zero and 100 large ones with names of their own
    names = [b"f%d.zero" % i for i in range(100)] + [b"%d" % (i * 7919) for i in range(100)]
    empty = [i < 100 for i in range(200)]
    model = trained(list(zip(names, empty, strict=True)), prefix=False)
    assert rules(model) == {b"zero$": (100, 100)}
    assert model.predict(table([b"new.zero", b"zero", b"zero.c"])).tolist() == [True, False, False]
    negated = trained([(n, not e) for n, e in zip(names, empty, strict=True)], prefix=False)
    assert rules(negated) == {}
    assert not negated.predict(table(names)).any()


def test_minfrac_keeps_a_component_at_exactly_its_bound():
    rows = [(b"%d.x" % i, i < 8) for i in range(10)]
    assert b"x$" in rules(trained(rows, minfrac=0.8))
    assert b"x$" not in rules(trained([*rows, (b"n.x", False)], minfrac=0.8))


def test_mincount_keeps_a_component_at_exactly_its_bound():
    rows = [(b"%d.x" % i, True) for i in range(5)]
    assert rules(trained(rows)) == {b"x$": (5, 5)}
    assert rules(trained(rows[:4])) == {}
    assert set(rules(trained(rows[:1], mincount=0))) == {rb"^0\.x$", b"^0", b"x$"}


def test_a_component_counts_once_in_a_name():
    assert rules(trained([(b"a.x.x.b", True)], mincount=0))[b"x"] == (1, 1)


def test_the_five_byte_prefix_is_optional():
    rows = [(b"#pico%d" % i, True) for i in range(1000, 1009)]
    new = table([b"#pico9999"])
    assert trained(rows, prefix=True).predict(new).tolist() == [True]
    assert trained(rows, prefix=False).predict(new).tolist() == [False]


@pytest.mark.deep
@settings(deadline=None)
@given(ROWS, ROWS)
def test_learning_in_two_parts_is_learning_at_once_and_forgetting_undoes_it(one, two):
    once = trained(one + two, mincount=1)
    model = trained(one, mincount=1)
    x, y = table([name for name, _ in two]), np.array([label for _, label in two], dtype=bool)
    model.partial_fit(x, y)
    assert model.counts_.equals(once.counts_)
    assert model.rules_.equals(once.rules_)
    model.forget(x, y)
    assert model.counts_.equals(trained(one, mincount=1).counts_)
    assert model.rules_.equals(trained(one, mincount=1).rules_)


@pytest.mark.parametrize(
    "row", [(b"b.x", True), (b"a.x", False), (b"x", True), (b"a.y", True), (b"c.x", True)]
)
def test_rows_that_were_not_learned_cannot_be_unlearned(row):
    model = trained([(b"a.x", True), (b"b.x", False), (b"c.y", True)], mincount=1)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="cannot forget what was not learned: component"):
        model.forget(table([row[0]]), [row[1]])
    assert pickle.dumps(model) == before


def test_the_first_part_may_lack_a_class_that_is_announced():
    model = NameModel(mincount=1).partial_fit(table([b"a.x"]), ["no"], classes=["no", "yes"])
    model.partial_fit(table([b"a.y"]), ["yes"])
    assert model.predict(table([b"b.y", b"b.x"])).tolist() == ["yes", "no"]


@settings(deadline=None)
@given(ROWS, st.lists(NAMES, max_size=10), st.sampled_from([0.2, 0.5, 0.8, 0.9, 1.0]))
def test_a_threshold_on_the_score_is_a_model_with_that_minfrac(rows, new, threshold):
    scores = trained(rows, minfrac=0.2, mincount=1).predict_proba(table(new))
    stricter = trained(rows, minfrac=threshold, mincount=1)
    assert (scores[:, 1] >= threshold).tolist() == stricter.predict(table(new)).tolist()
    assert np.allclose(scores.sum(axis=1), 1)


def test_the_evidence_is_the_strongest_rule_that_matches():
    rows = [(b"f%d.lock.x" % i, True) for i in range(6)] + [(b"g.lock.c", False)]
    model = trained(rows)
    found = model.explain(table([b"a.lock.x", b"a.lock.b", b"a.b"]))
    assert found == [Rule(b"x$", 6, 6), Rule(b"lock", 6, 7), None]
    assert model.rules_["component"].to_pylist() == [b"x$", b"lock"]
    weaker = trained([*rows, (b"h.x", False)])
    assert weaker.explain(table([b"a.lock.x"])) == [Rule(b"lock", 6, 7)]


def test_the_order_of_the_training_rows_does_not_matter():
    rows = [(b"a%d.%d" % (i % 7, i % 3), i % 2 == 0) for i in range(50)]
    assert trained(rows[::-1]).counts_.equals(trained(rows).counts_)


def test_every_container_gives_the_same_model():
    names, labels = [b"a.x", b"b.x", b"c"], [True, True, False]
    reference = trained(list(zip(names, labels, strict=True)), mincount=1)
    frame = pd.DataFrame({"name": names, "mode": [1, 2, 3]})
    text = np.array([[n.decode(), 1] for n in names], dtype=object)
    for X in (frame, frame.astype({"name": "category"}), text, text.tolist(), text.astype(str)):
        model = NameModel(mincount=1).fit(X, labels)
        assert model.rules_.equals(reference.rules_)
        assert model.predict(X).tolist() == labels


def test_a_row_without_a_name_is_a_no():
    model = NameModel(mincount=1).fit(table([b"x", None]), [True, True])
    assert model.predict(table([None, b"x"])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (
            lambda: NameModel(minfrac=1.5).fit(table([b"a"]), [True]),
            "minfrac: .*less than or equal to 1, found 1.5",
        ),
        (
            lambda: NameModel(mincount=-1).fit(table([b"a"]), [True]),
            "mincount: .*greater than or equal to 0, found -1",
        ),
        (lambda: NameModel().fit(pa.table({"nom": [b"a"]}), [True]), "has no column 'name'"),
        (lambda: NameModel().fit(table([b"a"]), pa.array([None], pa.bool_())), "y has nulls"),
        (lambda: NameModel().fit(table([b"a"]), [True, False]), "inconsistent numbers"),
        (lambda: NameModel().fit(table([b"a"] * 3), [1, 2, 3]), "Only binary classification"),
    ],
)
def test_bad_input_is_named(fit, message):
    with pytest.raises(ValueError, match=message):
        fit()


def test_a_model_without_its_counts_predicts_and_does_not_learn():
    model = trained([(b"a.x", True)], mincount=1)
    served = NameModel.from_rules(model.rules_, **model.get_params())
    assert served.predict(table([b"b.x", b"b"])).tolist() == [True, False]
    with pytest.raises(ValueError, match="without its counts"):
        served.partial_fit(table([b"a"]), [True])
