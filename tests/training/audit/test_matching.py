from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pyarrow as pa
import pytest

from birthmark.data.prediction_log import PREDICTIONS, Joining
from birthmark.training.audit import matching as module
from birthmark.training.audit.matching import Join, join
from birthmark.training.config import Matched, Matching

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)
Life = Callable[..., dict[str, Any]]
Table = Callable[..., pa.Table]


def asked(name: bytes, second: float, has_time: bool = True, **columns: Any) -> dict[str, Any]:
    """Return a row of the log; without `has_time` only the service knows its time."""
    at = MONDAY + timedelta(seconds=second)
    time = at if not has_time else MONDAY + timedelta(days=300)
    own = {"model": "V", "kind": "rules", "point": "bounded", "name": name, "time": time}
    return {**own, "create_time": at if has_time else None, **columns}


def joining(tolerance: float | None = None, matched: list[Matched] | None = None) -> Joining:
    usual = Matching().joining()
    return Joining(
        usual.tolerance if tolerance is None else tolerance,
        usual.matched if matched is None else matched,
    )


def joined(rows: list[dict[str, Any]], lives: pa.Table, **how: Any) -> Join:
    return join(pa.Table.from_pylist(rows, schema=PREDICTIONS), lives, joining(**how))


def pairs(found: Join) -> list[tuple[int, int]]:
    return sorted(zip(found.rows.tolist(), found.lives.tolist(), strict=True))


def test_a_row_joins_the_birth_of_its_name_near_its_time(life: Life, files_of: Table) -> None:
    lives = files_of(life(b"a", 10), life(b"b", 10), life(b"a", 100))
    found = joined([asked(b"a", 99), asked(b"b", 9.5, has_time=False), asked(b"c", 10)], lives)
    assert pairs(found) == [(0, 2), (1, 1)]
    assert (found.asked, found.ambiguous, found.unmatched) == (3, 0, 1)
    assert joined([asked(b"a", 96)], lives).unmatched == 1
    assert pairs(joined([asked(b"a", 96)], lives, tolerance=5)) == [(0, 2)]


@pytest.mark.parametrize("column", ["uid", "gid", "client", "dir_name"])
def test_members_that_both_have_must_agree(column: str, life: Life, files_of: Table) -> None:
    kind = PREDICTIONS.field(column).type
    mine, other = (
        (5, 6) if pa.types.is_integer(kind) else pa.array(["x", "y"]).cast(kind).to_pylist()
    )
    lives = files_of(
        life(b"a", 1, **{column: mine}),
        life(b"b", 1, **{column: other}),
        life(b"c", 1, **{column: None}),
    )
    rows = [asked(name, 1, **{column: mine}) for name in (b"a", b"b", b"c")]
    found = joined(rows, lives)
    assert pairs(found) == [(0, 0), (2, 2)]
    assert found.unmatched == 1
    rest = tuple(each for each in get_args(Matched) if each != column)
    assert pairs(joined(rows, lives, matched=rest)) == [(0, 0), (1, 1), (2, 2)]


def test_rows_and_lives_that_are_as_many_belong_together_in_the_order_of_time(
    life: Life, files_of: Table
) -> None:
    """One clock is a second late, so that the nearest life is another's."""
    lives = files_of(*(life(b"inbox.lock", second) for second in (10, 11, 12)))
    found = joined([asked(b"inbox.lock", second + 0.9) for second in (12, 10, 11)], lives)
    assert pairs(found) == [(0, 2), (1, 0), (2, 1)]


@pytest.mark.parametrize("seconds", [(10, 10.5, 11), (10.5,)])
def test_where_they_are_not_as_many_nothing_is_guessed(
    seconds: tuple[float, ...], life: Life, files_of: Table
) -> None:
    lives = files_of(life(b"a", 10), life(b"a", 11), life(b"alone", 10))
    found = joined([asked(b"a", each) for each in seconds] + [asked(b"alone", 10)], lives)
    assert pairs(found) == [(len(seconds), 2)]
    assert (found.ambiguous, found.unmatched) == (len(seconds), 0)


def test_an_order_of_time_that_is_not_possible_is_no_join(life: Life, files_of: Table) -> None:
    """Row 1 may be life 0 or 1, and row 0 life 1 alone, whose time is the later."""
    lives = files_of(life(b"a", 10, uid=1), life(b"a", 11, uid=None))
    found = joined([asked(b"a", 10.2, uid=2), asked(b"a", 10.4, uid=1)], lives)
    assert pairs(found) == []
    assert found.ambiguous == 2


def test_no_rows_and_no_lives_are_no_trouble(life: Life, files_of: Table) -> None:
    assert joined([], files_of(life(b"a", 1))).asked == 0
    assert joined([asked(b"a", 1)], files_of()).unmatched == 1
    assert joined([], files_of()).asked == 0


def test_more_pairs_than_can_be_looked_at_are_refused(
    life: Life, files_of: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EDGES", 3)
    lives = files_of(life(b"a", 1), life(b"a", 2))
    with pytest.raises(ValueError, match="a smaller tolerance gives fewer"):
        joined([asked(b"a", 1), asked(b"a", 2)], lives)
