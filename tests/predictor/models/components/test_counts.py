from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.features import name_components
from birthmark.predictor.models.components.counts import COUNTS, count, merged

PIECES = st.sampled_from([b"", b"a", b"b", b"lock", b"#pico", b"abcdefg", b"\xff$"])
NAMES = st.one_of(st.none(), st.lists(PIECES, min_size=1, max_size=4).map(b".".join))
KNOWN = st.sampled_from([True, False, None])
ROWS = st.lists(st.tuples(NAMES, KNOWN, KNOWN, st.booleans()), max_size=200)


def columns(rows) -> tuple[pa.Array, dict[str, pa.Array]]:
    names = pa.array([row[0] for row in rows], pa.binary())
    keys = ("one", "two", "three")
    return names, {
        key: pa.array([row[i] for row in rows], pa.bool_()) for i, key in enumerate(keys, 1)
    }


def figure_6_3(names: pa.Array, labels: pa.Array, prefix: bool) -> pa.Table:
    """Steps 1a to 1c, read line by line, for one predicate."""
    counts: dict[bytes, list[int]] = {}
    for name, label in zip(names.to_pylist(), labels.to_pylist(), strict=True):
        if name is not None and label is not None:
            for component in set(name_components(name, prefix)):
                n = counts.setdefault(component, [0, 0])
                n[0] += 1
                n[1] += label
    rows = [{"component": c, "n_a": a, "n_m": m} for c, (a, m) in sorted(counts.items())]
    return pa.Table.from_pylist(rows, schema=COUNTS)


@settings(deadline=None)
@given(ROWS, st.booleans())
def test_all_predicates_are_counted_as_each_alone(rows, prefix):
    names, labels = columns(rows)
    counted = count(names, labels, prefix)
    assert list(counted) == list(labels)
    for key, answers in labels.items():
        assert counted[key].equals(figure_6_3(names, answers, prefix))


def test_many_rows_are_counted_as_few_and_wherever_they_stand():
    # enough rows that they are counted in two halves, of an array that is a slice
    rows = [
        (b"%d.%d" % (i % 7, i % 3), (True, None, False)[i % 11 % 3], i % 5 == 0, True)
        for i in range(77)
    ]
    names, labels = columns(rows)
    once = count(names, labels, True)
    copies = 3000
    many = pa.concat_arrays([names.slice(5), *[names] * copies, names.slice(0, 5)]).slice(72)
    tiled = {
        key: pa.concat_arrays([label.slice(5), *[label] * copies, label.slice(0, 5)]).slice(72)
        for key, label in labels.items()
    }
    counted = count(
        many.slice(0, 77 * copies), {k: v.slice(0, 77 * copies) for k, v in tiled.items()}, True
    )
    for key, table in once.items():
        expected = [
            table["component"],
            *(
                pa.array([n * copies for n in table[c].to_pylist()], pa.uint64())
                for c in ("n_a", "n_m")
            ),
        ]
        assert counted[key].equals(pa.table(expected, schema=COUNTS))


def test_without_a_predicate_there_is_nothing_to_count():
    assert count(pa.array([b"a"]), {}, True) == {}


def test_labels_of_another_length_and_other_types_are_named():
    names = pa.array([b"a", b"b"])
    with pytest.raises(TypeError, match="lock must be of type Boolean"):
        count(names, {"lock": pa.array([1, 0])}, True)
    with pytest.raises(ValueError, match="2 names but 1 labels of lock"):
        count(names, {"lock": pa.array([True])}, True)


def test_counts_are_added_and_subtracted():
    names, labels = columns([(b"a.b", True, None, True), (b"a.c", False, True, True)])
    counts = count(names, labels, True)["one"]
    assert merged(counts, counts, -1).equals(COUNTS.empty_table())
    assert merged(COUNTS.empty_table(), counts, 1).equals(counts)
    with pytest.raises(ValueError, match="cannot forget what was not learned"):
        merged(COUNTS.empty_table(), counts, -1)
