"""Part of a bundled day that passes through a follower, as the quickstart shows it."""

from __future__ import annotations

import pyarrow.parquet as pq

from birthmark import replayed
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES
from birthmark.replayed import Replayed, Score, picture
from birthmark.terminal import Terminal


def drawn(scores: dict[str, Score]) -> list[str]:
    console = Terminal()
    console.width = 100
    with console.capture() as caught:
        console.print(picture(Replayed(FILES.empty_table(), [], scores)))
    return [" ".join(line.split()[1:]) for line in caught.get().splitlines() if "%" in line]


def test_bars_show_errors_with_history_without_and_both() -> None:
    better = Score(10, {"without history": 6, "with history": 8})
    worse = Score(10, {"without history": 7, "with history": 6})
    mean = f"65.0% 70.0% {'█' * 30}{'░' * 5}"
    assert drawn({"a": better, "b": worse, "c": Score()}) == [
        f"60.0% 80.0% {'█' * 20}{'░' * 20}",
        f"70.0% 60.0% {'█' * 30}{'▓' * 10}",
        mean,
    ]
    assert drawn({}) == []


def test_steps_are_whole_lines_of_a_day_in_order() -> None:
    steps = list(replayed._steps(DAYS[1]))
    first = steps[0][0]
    assert [begin for begin, _ in steps] == [first + n * replayed.STEP for n in range(len(steps))]
    for begin, text in steps:
        times = [replayed._time(line) for line in text.splitlines()]
        assert all(begin <= time < begin + replayed.STEP for time in times)
    calls = sum(line.split()[4][:1] == b"C" for _, text in steps for line in text.splitlines())
    assert calls == len(pq.read_table(DAYS[1], columns=["time"]))
