"""Part of a bundled day that passes through a follower, while one asks about what is born.

How right its answers were as they were given: told by the live history, and told nothing.
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
"""So much of the trace is asked about, then handed to the follower, microseconds."""

PART = 60_000_000
"""So much of it is replayed, microseconds."""

PATIENCE = 5.0
"""How long the follower may take for that, seconds."""

NOTHING = {"history": base64.b64encode(bytes(HISTORY_BYTES)).decode()}
"""What somebody says who has nobody to ask what was seen before."""

FOR_EVER = 1e12

HOW = ("untold", "told")
"""Whether answers knew what became of files before."""

BLOCKS = 40
"""The length of the longest bar."""


@dataclass
class Score:
    """How many answers there were about files of which it is known what became of them."""

    known: int = 0
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(HOW, 0))

    def share(self, how: str) -> float:
        """Return the share that was right."""
        return self.right[how] / self.known if self.known else 0.0


@dataclass
class Replayed:
    """The files that were asked about, what the service said of them, and how right it was.

    ``born`` are the births of a day in their order; ``told`` are the answers to the first of them,
    each told what became of earlier files.
    """

    born: pa.Table
    told: list[dict[str, Any]]
    scores: dict[str, Score]

    def share(self, how: str) -> float:
        """Return the share of right answers, as the mean of all predicates."""
        shares = [score.share(how) for score in self.scores.values() if score.known]
        return sum(shares) / max(len(shares), 1)


def replay(day: Path, sample: Path, url: str, history: Path, sink: Any) -> Replayed:
    """Ask the service at ``url`` about the births of ``day``, each before anybody saw it.

    ``sample`` has the day's operations, which are written to ``sink``, a follower's input, as text;
    ``history`` is what it shares.
    """
    born = births(read_files(day)).sort_by("born")
    labels = {key: each.evaluate(born).to_pylist() for key, each in FILE_PREDICATES.items()}
    done = Replayed(born, [], {key: Score() for key in labels})
    status = SharedHistory(history, FOR_EVER, FOR_EVER, 1.0)
    asked, before, end = 0, 0, None
    times, files = born["born"].cast(pa.int64()).to_pylist(), _requests(born)
    for begin, text in _steps(sample):
        end = end or begin + PART
        if begin >= end:
            break
        upto = asked
        while upto < len(times) and times[upto] < begin + STEP:
            upto += 1
        for how, more in (("told", {}), ("untold", NOTHING)) if upto > asked else ():
            answers = _ask(url, [file | more for file in files[asked:upto]])
            _count(done.scores, labels, asked, how, answers)
            done.told += answers if how == "told" else []
        asked = upto
        sink.write(text)
        sink.flush()
        _wait(status, before)  # nobody knows what comes after the last line until it has come
        before = _time(text.splitlines()[-1]) if text else before
    return done


def _steps(sample: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the text of a day, one step after the other, and when each begins."""
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
    """Return the files as one asks about them who sees their creates."""
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
                score.known += how == "told"
                score.right[how] += (answer["predicates"][key] == "yes") == label


def _wait(status: SharedHistory, until: int) -> None:
    """Wait until the follower knows what was before a time: it keeps up with any server."""
    end = time.monotonic() + PATIENCE
    while status.status().get("clock", 0) < until and time.monotonic() < end:
        time.sleep(0.002)


def picture(replayed: Replayed) -> Table:
    """Return how right the answers were, and how many were wrong, as bars."""
    scores = replayed.scores
    table = Table("predicate", *numbers("right, untold", "told"), "wrong", box=SIMPLE_HEAD)
    shares = {key: [score.share(how) for how in HOW] for key, score in scores.items()}
    shares = {key: own for key, own in shares.items() if scores[key].known}
    wrong = [1 - share for own in shares.values() for share in own]
    per_block = (max(wrong, default=0.0) or 1.0) / BLOCKS
    means = {"mean": [replayed.share(how) for how in HOW]} if shares else {}
    for key, own in (shares | means).items():
        untold, told = (round((1 - share) / per_block) for share in own)
        bar = styled("█" * min(untold, told), "green")
        bar.append("░" * (untold - told), "bright_black").append("▓" * (told - untold), "red")
        table.add_row(key, *(f"{100 * share:.1f}%" for share in own), bar)
    return table
