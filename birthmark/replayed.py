"""Part of a bundled day replayed through a follower, with a prediction for each new file.

Each prediction is made twice: with the live history, and without history.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.box import SIMPLE_HEAD
from rich.table import Table

from birthmark.data.datasets.tables import read_files
from birthmark.predictor import FILE_PREDICATES, births
from birthmark.terminal import numbers, styled
from birthmark_native import HISTORY_BYTES, SharedHistory, TextWriter

STEP = 100_000
"""Length of a step in microseconds: predict its files, then pass it to the follower."""

PART = 60_000_000
"""Length of the replayed part, microseconds."""

PATIENCE = 5.0
"""Timeout of the follower for a step, seconds."""

NO_HISTORY = {"history": base64.b64encode(bytes(HISTORY_BYTES)).decode()}
"""An empty history in a request."""

FOR_EVER = 1e12

HOW = ("without history", "with history")
"""The two kinds of predictions."""

BLOCKS = 40
"""The length of the longest bar."""


@dataclass
class Score:
    """Numbers of answers with a known outcome, and of correct ones."""

    known: int = 0
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(HOW, 0))

    def share(self, how: str) -> float:
        """Return the accuracy."""
        return self.right[how] / self.known if self.known else 0.0


@dataclass
class Replayed:
    """The births of a day, the service's answers, and their accuracy.

    ``born`` are the births of a day in order; ``answers`` are those with history to the first.
    """

    born: pa.Table
    answers: list[dict[str, Any]]
    scores: dict[str, Score]

    def share(self, how: str) -> float:
        """Return the mean accuracy over all predicates."""
        shares = [score.share(how) for score in self.scores.values() if score.known]
        return sum(shares) / max(len(shares), 1)


def replay(day: Path, sample: Path, url: str, history: Path, sink: Any) -> Replayed:
    """Ask the service at ``url`` about the births of ``day``, each before the follower saw it.

    ``sample`` has the day's operations. They are written as text to ``sink``, the follower's input;
    ``history`` is the follower's live history.
    """
    born = births(read_files(day)).sort_by("born")
    labels = {key: each.evaluate(born).to_pylist() for key, each in FILE_PREDICATES.items()}
    done = Replayed(born, [], {key: Score() for key in labels})
    status = SharedHistory(history, FOR_EVER, FOR_EVER, 1.0)
    done_until, before, end = 0, 0, None
    times, files = born["born"].cast(pa.int64()).to_pylist(), _requests(born)
    for begin, text in _steps(sample):
        end = end or begin + PART
        if begin >= end:
            break
        upto = done_until
        while upto < len(times) and times[upto] < begin + STEP:
            upto += 1
        for how, more in (("with history", {}), ("without history", NO_HISTORY)):
            if upto == done_until:
                break
            answers = _ask(url, [file | more for file in files[done_until:upto]])
            _count(done.scores, labels, done_until, how, answers)
            done.answers += answers if how == "with history" else []
        done_until = upto
        sink.write(text)
        sink.flush()
        _wait(status, before)  # the last line is known only after the next one
        before = _time(text.splitlines()[-1]) if text else before
    return done


def _steps(sample: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the begin and the text of each step of a day."""
    writer = TextWriter()
    written = [writer.write(batch) for batch in pq.read_table(sample).to_batches()]
    lines = b"".join([*written, writer.finish()]).splitlines(keepends=True)
    begin, step = _time(lines[0]), list[bytes]()
    for line in lines:
        while _time(line) >= begin + STEP:
            yield begin, b"".join(step)
            begin, step = begin + STEP, []
        step.append(line)
    yield begin, b"".join(step)


def _time(line: bytes) -> int:
    """Return the time that a line of text begins with, in microseconds."""
    return int(line.split(b" ", 1)[0].replace(b".", b""))


def _requests(born: pa.Table) -> list[dict[str, Any]]:
    """Return the requests about files, with the members of their creates."""
    known = born.select(["name", "dir_fh", "mode", "uid", "gid", "client", "born"])
    return [
        {
            "name_base64": base64.b64encode(row["name"]).decode(),
            "directory_handle": base64.b64encode(row["dir_fh"]).decode(),
            "time": row["born"].isoformat(),
            **{name: row[name] for name in ("mode", "uid", "gid", "client")},
        }
        for row in known.to_pylist()
    ]


def _ask(url: str, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    request = urllib.request.Request(
        f"{url}/v1/predictions", json.dumps(files).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answers: list[dict[str, Any]] = json.load(response)["predictions"]
    return answers


def _count(
    scores: Mapping[str, Score],
    labels: Mapping[str, list[bool | None]],
    first: int,
    how: str,
    answers: list[dict[str, Any]],
) -> None:
    for place, answer in enumerate(answers, start=first):
        for key, score in scores.items():
            label = labels[key][place]
            if label is not None and key in answer["predicates"]:
                score.known += how == "with history"
                score.right[how] += (answer["predicates"][key] == "yes") == label


def _wait(status: SharedHistory, until: int) -> None:
    """Wait until the follower has caught up to a time."""
    end = time.monotonic() + PATIENCE
    while status.status().get("clock", 0) < until and time.monotonic() < end:
        time.sleep(0.002)


def picture(replayed: Replayed) -> Table:
    """Return a table of accuracy, with bars of errors."""
    scores = replayed.scores
    table = Table(
        "predicate", *numbers("accuracy without history", "with"), "errors", box=SIMPLE_HEAD
    )
    shares = {key: [score.share(how) for how in HOW] for key, score in scores.items()}
    shares = {key: own for key, own in shares.items() if scores[key].known}
    wrong = [1 - share for own in shares.values() for share in own]
    per_block = (max(wrong, default=0.0) or 1.0) / BLOCKS
    means = {"mean": [replayed.share(how) for how in HOW]} if shares else {}
    for key, own in (shares | means).items():
        without, with_ = (round((1 - share) / per_block) for share in own)
        bar = styled("█" * min(without, with_), "green")
        bar.append("░" * (without - with_), "bright_black").append("▓" * (with_ - without), "red")
        table.add_row(key, *(f"{100 * share:.1f}%" for share in own), bar)
    return table
