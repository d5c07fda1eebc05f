from __future__ import annotations

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.predictor.predicates import from_config
from tests.builders.lives import life, table

G = 1024**3


COLUMNS = pa.schema([*FILES, NAMES.field("file_max_size")])


def answer(config: dict[str, object], size: int | None = 0, lifespan: float = 0.0) -> bool | None:
    row = life(None, 0.0, lifespan, max_size=size, file_max_size=size)
    return from_config(config).evaluate(table(COLUMNS, [row]))[0].as_py()


def test_a_size_range_excludes_its_lower_and_includes_its_upper_bound():
    config = {"name": "huge", "size_above": 4 * G, "size_at_most": 5 * G}
    assert [answer(config, size=s) for s in (4 * G, 4 * G + 1, 5 * G, 5 * G + 1, None)] == [
        False,
        True,
        True,
        False,
        None,
    ]


def test_a_lifespan_range_is_in_seconds():
    config = {"name": "brief", "subject": "name", "lifespan_above": 0.5, "lifespan_at_most": 2}
    assert [answer(config, lifespan=s) for s in (0.5, 0.500001, 2.0, 2.000001)] == [
        False,
        True,
        True,
        False,
    ]


def test_both_ranges_must_hold():
    config = {"name": "small and brief", "size_at_most": 10, "lifespan_at_most": 10}
    assert answer(config, size=10, lifespan=10) is True
    assert answer(config, size=11, lifespan=10) is False
    assert answer(config, size=10, lifespan=11) is False
    assert answer(config, size=None, lifespan=11) is False
    assert answer(config, size=None, lifespan=10) is None


def test_a_predicate_of_the_configuration_says_what_it_is():
    predicate = from_config({"name": "size>4G", "subject": "name", "size_above": 4 * G})
    assert predicate.key == "name:size>4G"
    assert predicate.description == "size above 4294967296 bytes"
    assert predicate.source == "configuration"
    described = from_config({"name": "big", "size_above": 1, "description": "not small"})
    assert described.description == "not small"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"size_above": 1}, "a predicate needs a name"),
        ({"name": "name:x", "size_above": 1}, "not starting with 'name:'"),
        ({"name": "x"}, "predicate 'x': expected at least one of size_above"),
        ({"name": "x", "size_abov": 1}, "no setting of predicate 'x' .did you mean 'size_above'"),
        ({"name": "x", "subject": "inode", "size_above": 1}, "subject must be 'file' or 'name'"),
        ({"name": "lock", "size_above": 1}, "predicate 'lock' is built in"),
        ({"name": "x", "size_above": "4G"}, "size_above must be a number from 0, not '4G'"),
        ({"name": "x", "size_above": True}, "size_above must be a number from 0"),
        ({"name": "x", "size_above": -1}, "size_above must be a number from 0"),
        ({"name": "x", "lifespan_above": float("nan")}, "lifespan_above must be a number"),
        ({"name": "x", "size_above": 2, "size_at_most": 2}, "must be less than size_at_most"),
    ],
)
def test_a_bad_configuration_names_the_predicate_and_the_key(config, message):
    with pytest.raises(ValueError, match=message):
        from_config(config)


def test_a_predicate_about_files_is_not_built_in_for_names():
    assert from_config({"name": "size>1M", "subject": "name", "size_above": 1024**2}).key
