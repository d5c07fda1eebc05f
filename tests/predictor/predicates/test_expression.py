from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.predictor.heat import reconsider
from birthmark.predictor.heat.reconsider import settled
from birthmark.predictor.predicates import FILE_PREDICATES, from_config, own_predicate
from birthmark.predictor.predicates.expression import LONGEST, Expression
from tests.builders.lives import MONDAY, day_of_lives, files_of, life, names_of, table


def answer(expression: str, lifespan: float | None = 10.0, **columns: object) -> bool | None:
    row = life(columns.pop("name", b"a.lock"), 0.0, lifespan, **columns)
    (found,) = own_predicate("own", expression).evaluate(table(FILES, [row])).to_pylist()
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("size > 100", True),
        ("size > 100.5 and writes == 3", True),
        ("size == 101 and writes != 3", False),
        ("50 < size <= 101", True),
        ("101 < size <= 200", False),
        ("not size > 100", False),
        ("bytes_written > 2 * size + 1", False),
        ("bytes_written >= 2 * size - -1", False),
        ("bytes_written / writes > 67", True),
        ("(writes > 5 or reads > 1) and size < 200", True),
        ("how_died == 'remove'", True),
        ("how_died in ('rename', 'overwrite')", False),
        ("how_died not in ('rename', 'overwrite')", True),
        ("writes in [1, 2, 3]", True),
        ("name.endswith('.lock')", True),
        ("name.startswith('b')", False),
        ("'.lo' in name", True),
        ("'.lo' not in name", False),
        ("name == 'a.lock'", True),
        ("server < 'i' and server != client", None),  # the client is not known
        ("death_seen", True),
        ("birth_seen == True", True),
        ("died - born == 10", True),
        ("atime > mtime", True),
        ("atime - mtime > 2.5", False),
        ("lifespan * 2 == 20", True),
    ],
)
def test_an_expression_is_evaluated_on_the_columns_of_a_life(
    expression: str, expected: bool | None
) -> None:
    seen = {"atime": MONDAY.replace(second=4), "mtime": MONDAY.replace(second=2)}
    found = answer(expression, max_size=101, writes=3, reads=2, bytes_written=202, **seen)
    assert found is expected


def test_unknown_values_make_unknown_only_their_dependents() -> None:
    assert answer("size > 5", max_size=None) is None
    assert answer("size > 5 or writes > 2", max_size=None, writes=3) is True
    assert answer("size > 5 and writes > 2", max_size=None, writes=0) is False
    assert answer("not size > 5", max_size=None) is None
    assert answer("mode in (1, 2)", mode=None) is None
    assert answer("reads / writes > 2") is None  # nothing by nothing
    assert answer("not reads / writes > 2") is None
    assert answer("reads / writes > 2", reads=1) is True


@pytest.mark.parametrize(
    ("expression", "alive", "died_at_10", "died_at_11"),
    [
        ("lifespan <= 10", None, True, False),
        ("lifespan < 11", None, True, False),
        ("lifespan > 10", None, False, True),
        ("lifespan >= 11", None, False, True),
        ("10 >= lifespan", None, True, False),
        ("11 > lifespan", None, True, False),
        ("lifespan == 10", None, True, False),
        ("lifespan <= 9.5", False, False, False),
        ("lifespan > 9.5", True, True, True),
        ("lifespan >= 10", True, True, True),
        ("lifespan < 10", False, False, False),
        ("lifespan == 9", False, False, False),
        ("lifespan != 9", True, True, True),
        ("9 < lifespan <= 10", None, True, False),
        ("8 < lifespan <= 9", False, False, False),
        ("lifespan / 2 > 1", None, True, True),
    ],
)
def test_the_observed_time_decides_comparisons_of_lifespans(
    expression: str, alive: bool | None, died_at_10: bool, died_at_11: bool
) -> None:
    found = [answer(expression, lifespan, end=10.0) for lifespan in (None, 10.0, 11.0)]
    assert found == [alive, died_at_10, died_at_11]


def test_a_lifespan_is_unknown_without_a_birth() -> None:
    row = life(b"old", None, 10.0)
    assert own_predicate("own", "lifespan > 1").evaluate(table(FILES, [row])).to_pylist() == [None]


@pytest.mark.parametrize("key", ["lifespan<=1", "lifespan<=5", "lifespan>5", "0<size<=16k", "lock"])
def test_built_in_predicates_can_be_written_as_expressions(key: str) -> None:
    """To the microsecond, and with the same unknown answers."""
    written = {
        "0<size<=16k": "0 < size <= 16 * 1024",
        "lock": "writes == 0 and lifespan <= 5",
    }
    times = (None, 0.999999, 1.0, 1.000001, 4.999999, 5.0, 5.000001)
    lives = [
        life(b"x", 0.1, lifespan, end=end, max_size=size, writes=writes)
        for lifespan in times
        for end in (3.0, 8.0)
        for size in (None, 0, 16384, 16385)
        for writes in (0, 1)
    ]
    asked = table(FILES, lives)
    own = own_predicate("own", written.get(key, key))
    assert own.evaluate(asked).equals(FILE_PREDICATES[key].evaluate(asked))


def test_an_expression_about_names_has_their_columns() -> None:
    rows = names_of(*day_of_lives(MONDAY, each=2))
    own = own_predicate("own", "writes > 0 and size > 1000", subject="name")
    assert own.key == "name:own"
    assert own.evaluate(rows).to_pylist() == [False, False, True] * 2
    with pytest.raises(ValueError, match="'max_size' is no column of a name's life"):
        own_predicate("own", "max_size > 0", subject="name")


def test_a_life_that_goes_on_has_only_final_answers() -> None:
    rows = [life(b"a", 0.0, None, end=10.0, writes=9), life(b"b", 0.0, 2.0, writes=9)]
    predicates = {
        expression: own_predicate("own", expression)
        for expression in ("writes > 5", "lifespan <= 5", "lifespan > 5", "name == 'a'")
    }
    found = {key: own.to_pylist() for key, own in settled(files_of(*rows), predicates).items()}
    assert found == {
        "writes > 5": [None, True],
        "lifespan <= 5": [False, True],
        "lifespan > 5": [True, False],
        "name == 'a'": [True, False],
    }
    predictions = {"lifespan <= 5": pa.array([True, False])}
    assert reconsider(files_of(*rows), predictions, predicates)["lifespan <= 5"].to_pylist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("wirtes > 3", r"'wirtes' is no column of a file's life \(did you mean 'writes'\?\)"),
        ("writes >", "expected an expression: "),
        ("writes", "expected a question, whose answer is yes or no"),
        ("writes > 'three'", "\"writes > 'three'\": compares a number with text"),
        ("born > 5", "compares a time with a number"),
        ("name > 5", "compares text with a number"),
        ("writes and size", "'writes': expected an answer, yes or no, found a number"),
        ("not writes", "'writes': expected an answer, yes or no, found a number"),
        ("-name == 'x'", "'name': expected a number, found text"),
        ("born + died > 1", "expected numbers, or one time less another"),
        ("lifespan > 'x'", "expected a number, found text"),
        ("writes ** 2 > 1", r"'writes \*\* 2': expressions have no such thing"),
        ("writes is None", "expressions have no such comparison"),
        ("writes in size", "expected text in quotes, and where to look"),
        ("name.upper() == 'X'", "expressions have no such thing"),
        ("name.count('x') > 1", "expected startswith or endswith"),
        ("__import__('os').system('true')", "expected startswith or endswith"),
        ("open('/etc/passwd')", "expressions have no such thing"),
        ("[x for x in size]", "expressions have no such thing"),
        ("size.__class__", "expressions have no such thing"),
        ("(lambda: 1)() > 0", "expressions have no such thing"),
        ("(y := size) > 0", "expressions have no such thing"),
        ("size > 1e999", "expected a number, or text in quotes"),
        (f"size > {10**400}", "expected a number, or text in quotes"),
        ("size > 1j", "expected a number, or text in quotes"),
        ("size > 1 " + "and size > 1 " * LONGEST, "at most 2000 characters"),
        ("(" * 900 + "size" + ")" * 900 + " > 1", "expected an expression: "),
        ("not " * 60 + "size > 1", "at most 50 deep"),
        ("size > " + "-" * 1900 + "1", "expected an expression"),
        ("True", "'True': is constant: expected a column"),
        ("1 < 2", "'1 < 2': is constant: expected a column"),
        ("size > 5 or True", "'True': is constant: expected a column"),
        ("not ('x' in 'xy' and size > 1)", "\"'x' in 'xy'\": is constant: expected a column"),
        ("size == size", "'size == size': is constant: compares a value with itself"),
        ("size / 0 > 1", "'size / 0': divides by zero"),
        ("size / (2 - 1 - 1) > 1", "divides by zero"),
        ("size > 1 / -0.0", "divides by zero"),
        ("size / (writes / (3 * 0)) > 1", r"'writes / \(3 \* 0\)': divides by zero"),
    ],
)
def test_invalid_expressions_are_refused_with_the_place_and_the_expectation(
    expression: str, reason: str
) -> None:
    with pytest.raises(ValueError, match="predicate 'own': expression: .*" + reason):
        from_config({"name": "own", "expression": expression})


def test_it_says_what_it_asks_and_can_be_sent_to_another_process() -> None:
    own = own_predicate("rewritten", "bytes_written > 2 * size")
    assert own.description == "bytes_written > 2 * size"
    assert own.source == "configuration"
    assert own == pickle.loads(pickle.dumps(own))
    assert own != own_predicate(
        "rewritten", "bytes_written > 3 * size", description=own.description
    )
    assert own.rule == Expression("bytes_written > 2 * size")
    assert own_predicate("own", "size > 1", description="not empty").description == "not empty"


def test_names_need_be_no_text() -> None:
    assert answer("name == b'\\xff.html'", name=b"\xff.html") is True
    assert answer("name.endswith('.html') and b'\\xff' in name", name=b"\xff.html") is True
    rows = NAMES.empty_table()
    assert len(own_predicate("own", "size > 1", subject="name").evaluate(rows)) == 0
