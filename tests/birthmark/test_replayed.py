"""Part of a bundled day that passes through a follower, as the quickstart shows it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark import quickstart, replayed
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES
from birthmark.predictor.trained import TrainedModel
from birthmark.replayed import Replayed, Score, picture
from birthmark.terminal import Terminal
from birthmark.training.learn.train import read_lives
from birthmark.training.registry.versions import Registry


def drawn(scores: dict[str, Score]) -> list[str]:
    console = Terminal()
    console.width = 100
    with console.capture() as caught:
        console.print(picture(Replayed(FILES.empty_table(), [], scores)))
    return [" ".join(line.split()[1:]) for line in caught.get().splitlines() if "%" in line]


def test_bars_tell_what_was_wrong_told_untold_and_both() -> None:
    better = Score(10, {"untold": 6, "told": 8})
    worse = Score(10, {"untold": 7, "told": 6})
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


@pytest.mark.deep
def test_who_is_told_is_right_more_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute of the second day, asked of a model of the first."""
    monkeypatch.setattr(quickstart, "DIRECTORY", tmp_path)
    for number, day in enumerate(DAYS[:2]):
        ingest([day], tmp_path / f"day{number}")
    lives = read_lives([tmp_path / "day0"])
    model = TrainedModel().fit(lives.files, lives.names, kinds=("forest",))
    registry = tmp_path / "registry"
    Registry(registry).publish(model.save, {"serve": "forest", "point": "accurate"})
    steps = quickstart.Steps(verbose=False)
    done = quickstart.follow(steps, registry, tmp_path / "day1", DAYS[1])
    scores = done.scores
    assert len(done.told) > 4_000
    assert min(score.known for score in scores.values()) > 100
    right = {how: sum(score.right[how] for score in scores.values()) for how in replayed.HOW}
    known = sum(score.known for score in scores.values())
    assert 0.7 * known < right["untold"] < known
    lifespans = [scores[key] for key in ("lock", "size=zero", "lifespan<=1")]
    assert all(score.share("told") > score.share("untold") for score in lifespans)
