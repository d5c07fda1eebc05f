"""The one screen that the quickstart ends in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark import one_screen
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES
from birthmark.one_screen import COLUMNS, majority_accuracy, show_screen, statements
from birthmark.predictor import FILE_PREDICATES
from birthmark.replayed import Replayed, Score
from birthmark.terminal import Terminal

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
EVEN = dict.fromkeys(FILE_PREDICATES, 0.5)


def life(name: bytes, size: int, seconds: float | None) -> dict[str, Any]:
    """A file of a size, gone after some seconds, or there for a minute."""
    end = NOON + timedelta(seconds=60 if seconds is None else seconds)
    empty = {field.name: None for field in FILES}
    return empty | {
        "server": "s",
        "fh": b"h",
        "name": name,
        "kind": "file",
        "how_born": "create",
        "born": NOON,
        "birth_seen": True,
        "first_seen": NOON,
        "last_seen": end,
        "died": None if seconds is None else end,
        "death_seen": seconds is not None,
        "observed_until": end,
        "operations": 1,
        "reads": 0,
        "writes": int(size > 0),
        "bytes_read": 0,
        "bytes_written": size,
        "max_size": size,
        "last_size": size,
    }


def replayed(*files: tuple[dict[str, Any], dict[str, float]]) -> Replayed:
    """The answers about files: the probability of each predicate that is not even."""
    born = pa.Table.from_pylist([row for row, _ in files], schema=FILES)
    answers = [{"probabilities": EVEN | likely} for _, likely in files]
    scores = {
        "size=zero": Score(10, {"with history": 9, "without history": 8}),
        "lock": Score(4, {"with history": 4, "without history": 3}),
    }
    return Replayed(born, answers, scores | {"size>1M": Score()})


def test_the_most_informative_answer_and_the_outcome_are_shown() -> None:
    shown = statements(
        replayed(
            (life(b"a.lock", 0, 0.25), {"lifespan<=1": 0.75, "size=zero": 0.99}),
            (life(b"b.c", 5_120, None), {"lifespan<=5": 0.02}),
            (life(b"plain", 3_000_000, 4.0), {"lifespan<=1": 0.9}),
        ),
        EVEN,
    )
    assert [(each.name, each.prediction, each.outcome, each.right) for each in shown] == [
        (b"a.lock", "stays empty", "empty", True),
        (b"b.c", "outlives 5 s", "there at 60 s", True),
        (b"plain", "gone within a second", "gone at 4 s", False),
    ]
    assert [each.sure for each in shown] == [0.99, 0.98, 0.9]


def test_a_usual_answer_has_little_information() -> None:
    asked = replayed((life(b"x", 0, None), {"size=zero": 0.95, "lifespan<=1": 0.2}))
    assert statements(asked, EVEN)[0].prediction == "stays empty"
    assert statements(asked, EVEN | {"size=zero": 0.95})[0].prediction == "outlives a second"


def test_a_file_of_each_of_the_six_commonest_suffixes() -> None:
    rows = [life(b"%d.s%d" % (n, kind), 0, 1.0) for kind in range(8) for n in range(kind + 1)]
    shown = statements(replayed(*((row, {}) for row in rows)), EVEN)
    assert [each.name.partition(b".")[2] for each in shown] == [b"s%d" % n for n in range(7, 1, -1)]


def test_a_predicate_without_a_known_outcome_is_not_shown() -> None:
    born = life(b"x", 0, None) | {"observed_until": NOON}
    assert not statements(replayed((born, {"lifespan<=5": 1.0})), EVEN)[0].prediction.startswith(
        "gone"
    )


def test_the_baseline_is_the_majority_answer_of_the_day_before() -> None:
    asked = replayed(*[(life(b"x", 0, 0.5), {})] * 3, (life(b"x", 9, 0.5), {}))
    likely = dict.fromkeys(FILE_PREDICATES, 0.9)
    high, low = (
        majority_accuracy(asked, likely),
        majority_accuracy(asked, dict.fromkeys(FILE_PREDICATES, 0.1)),
    )
    assert high + low == pytest.approx(1)
    zero = FILE_PREDICATES["size=zero"].evaluate(asked.born).to_pylist()
    assert zero == [True, True, True, False]


def test_the_accuracy_is_the_mean_over_known_predicates() -> None:
    assert replayed((life(b"x", 0, 1.0), {})).share("with history") == pytest.approx((0.9 + 1) / 2)
    assert Replayed(FILES.empty_table(), [], {}).share("with history") == 0


@pytest.fixture
def first(tmp_path: Path) -> Path:
    ingest([DAYS[0]], tmp_path / "day")
    return tmp_path / "day"


def test_the_screen_fits_24_lines_of_80_columns_whatever_names_are(
    first: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [b"\x1b[31mred.%d" % n + bytes([0xFF]) * 40 for n in range(3)] * 3
    names = [name + b".%d" % n for n, name in enumerate(names)]
    lives = [life(name, 1 << 40, None if n % 2 else 1e-5) for n, name in enumerate(names)]
    likely = {"lifespan<=1": 1.0}
    show_screen(first, replayed(*((each, likely) for each in lives)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 - 6  # four lines of what is next, and a blank before and behind
    assert max(map(len, lines)) <= COLUMNS
    assert "\x1b[31m" not in "".join(lines)
    assert "8,578 files" in "".join(lines)
    assert sum(line.rstrip().endswith(("right", "wrong")) for line in lines) == one_screen.NAMES


def test_a_name_that_is_no_text_is_measured_as_shown() -> None:
    console = Terminal()
    console.width = COLUMNS
    with console.capture() as caught:
        console.print(one_screen._table([one_screen.Statement(b"\xff" * 9, "a", 1.0, "b", True)]))
    assert r"\xff" in caught.get()
