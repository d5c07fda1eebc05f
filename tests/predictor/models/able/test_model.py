from __future__ import annotations

import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from birthmark.predictor.models.able.estimator import AbleTree
from birthmark.predictor.models.able.model import TreePath

TABLE_6_15 = pd.DataFrame(
    {
        "Mode": [600, 600, 600, 444, 444, 600, 600, 444],
        "Suffix": ["cshrc", "cshrc", "cshrc", "cshrc", "html", "log", "log", "py"],
    }
)
WRITE_ONLY = [False, False, True, False, False, True, True, False]


def drawn(model: AbleTree, node: int = 0) -> object:
    """Return a tree as the figures draw it: leaves YES or NO, nodes as attribute and branches."""
    nodes, attribute = model.tree_.nodes, model.tree_.nodes.attribute[node]
    if attribute < 0:
        return "YES" if 2 * nodes.n_true[node] > nodes.n[node] else "NO"
    values = model.tree_.values[attribute].to_pylist()
    children = np.flatnonzero(nodes.parent == node)
    branches = {values[nodes.code[child]]: drawn(model, child) for child in children}
    return model.attributes_[attribute], branches


def test_figure_6_5_the_full_tree():
    model = AbleTree(purity=None).fit(TABLE_6_15, WRITE_ONLY)
    assert drawn(model) == (
        "Mode",
        {
            600: ("Suffix", {"cshrc": "NO", "log": "YES"}),
            444: ("Suffix", {"cshrc": "NO", "html": "NO", "py": "NO"}),
        },
    )


def test_figure_6_6_the_pruned_tree():
    model = AbleTree().fit(TABLE_6_15, WRITE_ONLY)
    expected = ("Mode", {600: ("Suffix", {"cshrc": "NO", "log": "YES"}), 444: "NO"})
    assert drawn(model) == expected


def test_figure_6_7_the_default_nodes():
    model = AbleTree().fit(TABLE_6_15, WRITE_ONLY)
    unseen = pd.DataFrame({"Mode": [755, 600], "Suffix": ["log", "c"]})
    assert model.predict(unseen).tolist() == [False, True]
    assert model.explain(unseen) == [
        TreePath((), True, 3, 8),
        TreePath((("Mode", 600),), True, 3, 5),
    ]
    assert model.predict_proba(unseen)[:, 1].tolist() == [3 / 8, 3 / 5]


def test_the_way_to_a_leaf_is_explained():
    model = AbleTree().fit(TABLE_6_15, WRITE_ONLY)
    seen = pd.DataFrame({"Mode": [600, 444], "Suffix": ["log", "unseen"]})
    assert model.explain(seen) == [
        TreePath((("Mode", 600), ("Suffix", "log")), False, 2, 2),
        TreePath((("Mode", 444),), False, 0, 3),
    ]


def strength(values: list[object], labels: list[bool]) -> float:
    """Return the normal deviate of Pearson's chi-squared, as scipy computes it."""
    k = len(set(values)) - 1
    if k == 0:
        return -math.inf
    pairs = Counter(zip(values, labels, strict=True))
    counts = [[pairs[value, label] for label in set(labels)] for value in set(values)]
    varies = len(set(labels)) > 1
    statistic = chi2_contingency(counts, correction=False).statistic if varies else 0.0
    return ((statistic / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))


def test_the_root_of_the_example_is_the_more_significant_attribute():
    mode = strength(TABLE_6_15["Mode"].tolist(), WRITE_ONLY)
    suffix = strength(TABLE_6_15["Suffix"].tolist(), WRITE_ONLY)
    assert mode == pytest.approx(1.37, abs=0.005)
    assert suffix == pytest.approx(0.90, abs=0.005)


CELLS = st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.sampled_from([b"x", b"", None]))
ROWS = st.lists(st.tuples(CELLS, st.booleans()), min_size=1, max_size=40)


def as_table(cells: list[tuple[object, ...]]) -> pa.Table:
    types = [pa.utf8(), pa.uint32(), pa.binary()]
    columns = [pa.array([c[i] for c in cells], kind) for i, kind in enumerate(types)]
    return pa.table(columns, names=["letter", "number", "bytes"])


def check_node(model: AbleTree, node: int, rows: list[tuple], used: set[int]) -> None:
    """Hold a node and all below it to Figure 6.4, given the training rows that belong to it."""
    nodes, attribute = model.tree_.nodes, model.tree_.nodes.attribute[node]
    labels = [label for _, label in rows]
    assert (nodes.n[node], nodes.n_true[node]) == (len(rows), sum(labels))
    strengths = [strength([cells[a] for cells, _ in rows], labels) for a in range(3)]
    unused = [a for a in range(3) if a not in used]
    best = max((strengths[a] for a in unused), default=-math.inf)
    share = sum(labels) / len(rows)
    if max(share, 1 - share) >= (model.purity or math.inf) or best == -math.inf:
        assert attribute == -1
        assert node not in nodes.parent
        return
    assert attribute in unused
    assert strengths[attribute] == pytest.approx(best, abs=1e-9)
    values = model.tree_.values[attribute].to_pylist()
    children = np.flatnonzero(nodes.parent == node)
    found = [values[nodes.code[child]] for child in children]
    assert len(found) == len(set(found))
    assert set(found) == {cells[attribute] for cells, _ in rows}
    for child, value in zip(children, found, strict=True):
        inside = [row for row in rows if row[0][attribute] == value]
        check_node(model, child, inside, used | {attribute})


@settings(deadline=None)
@given(ROWS, st.sampled_from([None, 1.0, 0.8, 0.6]))
def test_every_node_is_as_figure_6_4_says(rows, purity):
    model = AbleTree(purity).fit(as_table([cells for cells, _ in rows]), [y for _, y in rows])
    check_node(model, 0, rows, set())


@settings(deadline=None)
@given(ROWS, st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.none()), max_size=9))
def test_a_row_is_answered_by_the_node_that_its_way_ends_at(rows, new):
    model = AbleTree().fit(as_table([cells for cells, _ in rows]), [y for _, y in rows])
    cells = [c for c, _ in rows] + new
    paths = model.explain(as_table(cells))
    scores = model.predict_proba(as_table(cells))[:, 1]
    assert scores.tolist() == [path.n_true / path.n for path in paths]
    assert model.predict(as_table(cells)).tolist() == [2 * p.n_true > p.n for p in paths]
    for path, values in zip(paths, cells, strict=True):
        row = dict(zip(["letter", "number", "bytes"], values, strict=True))
        assert all(row[attribute] == value for attribute, value in path.steps)
        same = [
            y for c, y in rows if all(dict(zip(row, c, strict=True))[a] == v for a, v in path.steps)
        ]
        assert (path.n_true, path.n) == (sum(same), len(same))


def test_a_tie_is_a_no():
    model = AbleTree().fit(pd.DataFrame({"a": ["x", "x"]}), [True, False])
    assert model.predict(pd.DataFrame({"a": ["x", "y"]})).tolist() == [False, False]


def test_purity_trades_size_for_doubt():
    X = pd.DataFrame({"a": ["x"] * 10 + ["y"] * 10})
    y = [True] * 9 + [False] + [False] * 10
    sizes = {p: len(AbleTree(p).fit(X, y).tree_.nodes.n) for p in (1.0, 0.56, 0.55)}
    assert sizes == {1.0: 3, 0.56: 3, 0.55: 1}


def test_an_attribute_of_many_values_is_not_preferred_for_their_number():
    # 40 names that occur once have the greater chi-squared statistic, and no significance
    X = pd.DataFrame({"name": [f"n{i}" for i in range(40)], "mode": [600, 444] * 20})
    y = [i % 2 == 0 and i % 8 != 0 for i in range(40)]
    model = AbleTree().fit(X, y)
    assert model.attributes_[model.tree_.nodes.attribute[0]] == "mode"


def test_a_missing_value_is_a_value_of_its_own():
    model = AbleTree().fit(pd.DataFrame({"a": ["x", None, None]}), [True, False, False])
    assert model.predict(pd.DataFrame({"a": [None, "x"]})).tolist() == [False, True]
    assert model.explain(pd.DataFrame({"a": [None]})) == [TreePath((("a", None),), False, 0, 2)]
    nothing = AbleTree().fit(pd.DataFrame({"a": [None, None]}), [True, False])
    assert nothing.predict(pd.DataFrame({"a": ["x"]})).tolist() == [False]


def test_the_order_of_the_training_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 5, (200, 3)), columns=list("abc")).astype(str)
    y = rng.random(200) < 0.4
    order = rng.permutation(200)
    one, two = AbleTree().fit(X, y), AbleTree().fit(X.iloc[order], y[order])
    assert drawn(one) == drawn(two)


def test_the_names_of_values_do_not_matter():
    """The first of equal attributes is chosen, independently of their values."""
    random = np.random.default_rng(7)
    for _ in range(20):
        values = random.integers(0, 60, 500)
        renamed = random.permutation(60)[values]
        answers = random.random(500) < 0.3 + 0.4 * (values % 3 == 0)
        model = AbleTree().fit(pd.DataFrame({"a": values, "b": renamed}), answers)
        assert model.tree_.nodes.attribute[0] == 0
        unseen = pd.DataFrame({"a": [60, values[0]], "b": [renamed[0], 60]})
        assert [path.default for path in model.explain(unseen)] == [True, False]


@pytest.mark.parametrize("kind", ["category", "string[pyarrow]", object])
def test_every_container_gives_the_same_answers(kind):
    X = TABLE_6_15.astype({"Suffix": kind})
    expected = AbleTree().fit(TABLE_6_15, WRITE_ONLY).predict(TABLE_6_15).tolist()
    assert AbleTree().fit(X, WRITE_ONLY).predict(TABLE_6_15).tolist() == expected
    arrow = pa.Table.from_pandas(X, preserve_index=False)
    assert AbleTree().fit(arrow, WRITE_ONLY).predict(X).tolist() == expected
    array = X.to_numpy(dtype=object)
    assert AbleTree().fit(array, WRITE_ONLY).predict(array).tolist() == expected


def test_a_model_survives_pickling():
    model = pickle.loads(pickle.dumps(AbleTree().fit(TABLE_6_15, WRITE_ONLY)))
    assert drawn(model) == drawn(AbleTree().fit(TABLE_6_15, WRITE_ONLY))


@pytest.mark.parametrize("purity", [0.4, 1.1])
def test_a_purity_that_makes_no_sense_is_refused(purity):
    with pytest.raises(ValueError, match=f"purity: .* than or equal to .*, found {purity}"):
        AbleTree(purity).fit(TABLE_6_15, WRITE_ONLY)


def test_times_are_no_attributes():
    times = TABLE_6_15.assign(born=pd.Timestamp("2001-10-22", tz="UTC"))
    with pytest.raises(ValueError, match="column 'born' holds times, which are no categories"):
        AbleTree().fit(times, WRITE_ONLY)


def test_a_column_of_another_type_is_named():
    model = AbleTree().fit(TABLE_6_15, WRITE_ONLY)
    with pytest.raises(ValueError, match="column 'Mode' must hold int64"):
        model.predict(TABLE_6_15.assign(Mode="rw"))
    with pytest.raises(ValueError, match="column 'Mode' mixes kinds of values"):
        AbleTree().fit(TABLE_6_15.assign(Mode=[1, "x"] * 4), WRITE_ONLY)


def test_a_tree_of_no_rows_is_refused():
    with pytest.raises(ValueError, match="0 sample"):
        AbleTree().fit(as_table([]), pa.array([], pa.bool_()))
