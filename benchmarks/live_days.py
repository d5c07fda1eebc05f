"""The captures that are played, and what ``evaluate`` says of their creates."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks.live_questions import (
    Level,
    Questions,
    created,
    known_at,
    questions,
    read_operations,
)
from benchmarks.packets import UNITS, Packets
from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.predictor import Point, TrainedModel
from birthmark.training.evaluate.cases import Labelled, labelled

_OPENERS = {b"\xfd7zXZ": lzma.open, b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
"""Functions that open compressed files, by magic number."""


@dataclass(frozen=True)
class Day:
    """A day that is played: its packets, its questions, and what became of its births.

    ``test`` has for each subject, ``file`` and ``name``, the births by a create, what was known
    then and what came of it, as ``evaluate`` has them; ``replies`` are the times of all replies,
    ascending, in microseconds since the epoch.
    """

    name: str
    packets: Packets
    questions: Questions
    test: Mapping[str, Labelled]
    replies: Ints

    def of(self, key: str) -> tuple[Ints, Labelled]:
        """Return which question is about each birth that a predicate judges, and these births."""
        subject = self.subject(key)
        return self.questions.rows[subject], self.test[subject]

    def subject(self, key: str) -> str:
        """Return the subject of the predicate of ``key``."""
        return next(subject for subject, own in self.test.items() if key in own.predicates)


def read_day(path: Path, scratch: Path, model: TrainedModel) -> Day:
    """Ingest a capture; the model goes on from what it shows.

    ``path`` may be compressed, and is unpacked into ``scratch`` then.
    """
    dataset = scratch / "dataset"
    packets = Packets(_unpacked(path, scratch))
    ingest([path], dataset)
    files, names, operations = read_files(dataset), read_names(dataset), read_operations(dataset)
    test = {
        subject: _created(own)
        for subject, own in labelled(model.predicates, files, names, model.creates).items()
    }
    model.follow(files, names)
    asked = questions(operations, {subject: own.lives for subject, own in test.items()})
    replies = operations["reply_time"].to_numpy().astype("datetime64[us]").astype(np.int64)
    return Day(path.name, packets, asked, test, replies)


def _created(births: Labelled) -> Labelled:
    """Leave out names that a link or a rename made, which no create is asked about."""
    some = created(births.lives)
    return Labelled.of(births.lives.filter(some), births.creates.filter(some), births.predicates)


def expect_capture(path: Path) -> None:
    """Exit where a path is none of a capture that can be played."""
    if path.is_dir():
        raise SystemExit(f"{path}: expected a capture to be played, found a directory")
    with _opened(path) as file:
        if file.read(4) not in UNITS:
            raise SystemExit(f"{path}: expected a capture to be played: little-endian pcap")


def _unpacked(path: Path, scratch: Path) -> Path:
    """Return where a capture is that can be read at any place."""
    with _opened(path) as source:
        if isinstance(source, io.BufferedReader):
            return path
        unpacked = scratch / "capture.pcap"
        scratch.mkdir(parents=True, exist_ok=True)
        with unpacked.open("wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
    return unpacked


def _opened(path: Path) -> IO[bytes]:
    """Open a file, decompressed if it is compressed."""
    with path.open("rb") as file:
        begins = file.read(8)
    opener: Any = next((own for magic, own in _OPENERS.items() if begins.startswith(magic)), open)
    opened: IO[bytes] = opener(path, "rb")
    return opened


def evaluated(
    model: TrainedModel, kind: str, point: Point, level: Level, test: Mapping[str, Labelled]
) -> dict[str, Bools]:
    """Return a model type's answers at an operating point for the births of each predicate."""
    answer = {}
    for own in test.values():
        creates = known_at(own.creates, level)
        for key, answers in model.predict(creates, kind, point, list(own.predicates)).items():
            answer[key] = answers.to_numpy(zero_copy_only=False).astype(bool)
    return answer
