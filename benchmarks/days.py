"""Days of traffic for benchmarks: from traces or datasets, or generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets.tables import read_files, read_names, read_table
from birthmark.data.ingest.run import ingest
from birthmark.features import History, from_directories, from_files, from_names
from birthmark.predictor import Predicate
from birthmark.predictor.control.outcomes import USES
from birthmark.predictor.parameters import DEFAULTS
from birthmark.predictor.predicates.predicate import Subject
from birthmark.training.evaluate.cases import Labelled, labelled
from birthmark.training.learn.train import Lives
from birthmark_native import HistoryKeeper, LiveHistory

FEW_KEYS = 1000


@dataclass(frozen=True)
class Day:
    """Files that lived in one day, or in a period that stands for one.

    ``files`` and ``names`` are tables of ``data.schema``, births and all else. Those read from
    datasets have the files' use at 30 s, too (``with_use``).
    """

    name: str
    files: pa.Table
    names: pa.Table


def read_days(paths: Sequence[Path], scratch: Path) -> list[Day]:
    """Read days, in the order of their time: each a dataset, a trace, or a folder of traces.

    Traces are ingested into ``scratch``.
    """
    days = []
    for number, path in enumerate(paths):
        dataset = path
        if not (path / "files").is_dir():
            dataset = scratch / str(number)
            traces = sorted(each for each in path.rglob("*") if each.is_file())
            ingest(traces if path.is_dir() else [path], dataset)
        operations = read_table(dataset, "operations").to_batches()
        files = with_use(read_files(dataset), operations)
        days.append(Day(path.name, files, read_names(dataset)))
    return days


def with_use(files: pa.Table, operations: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return files with the columns ``used_…`` of ``predictor.control.outcomes``.

    A follower's live history emits them from the operations; null for files that died before.
    """
    live = LiveHistory(HistoryKeeper(FEW_KEYS), HistoryKeeper(FEW_KEYS))
    births, outcomes = [], []
    for batch in operations:
        live.update(batch)
        births.append(live.take_births())
        outcomes.append(live.take_outcomes())
    born, used = (pa.Table.from_batches(batches) for batches in (births, outcomes))
    born = born.filter(pc.equal(born["subject"].cast(pa.utf8()), "file"))
    used = used.filter(pc.equal(used["fact"].cast(pa.utf8()), "used"))
    row_of = {birth: row for row, birth in enumerate(used["id"].to_pylist())}
    keys = zip(*(born[name].to_pylist() for name in ("time", "dir_fh", "name")), strict=True)
    rows = {key: row_of.get(birth) for key, birth in zip(keys, born["id"].to_pylist(), strict=True)}
    keys = zip(*(files[name].to_pylist() for name in ("born", "dir_fh", "name")), strict=True)
    found = used.take(pa.array([rows.get(key) for key in keys], pa.int64()))
    for use in USES.values():
        files = files.append_column(f"used_{use}", found[use])
    return files


def generated_days(name: str, days: int, seed: int, scratch: Path, rate: float = 1.0) -> list[Day]:
    """Generate a workload of whole days; ``rate`` scales that of ``benchmarks.workloads``."""
    # Traces need no generator, and a clone may do without the folder `research`.
    from benchmarks.workloads import RATES
    from birthmark.research.workloads import Workload
    from birthmark.research.workloads.output import write
    from birthmark.research.workloads.profile import read_profile

    start = read_profile(name).start
    trace, dataset = scratch / f"{name}.parquet", scratch / name
    write(Workload(name, seed, start, days, rate * RATES[name]), trace)
    ingest([trace], dataset)
    midnight = datetime.fromisoformat(start).replace(tzinfo=UTC)
    files = with_use(read_files(dataset), read_table(dataset, "operations").to_batches())
    whole = Lives((name,), files, read_names(dataset))
    found = []
    for number in range(days):
        since = midnight + timedelta(days=number)
        # files that were there before the first day are of the first: directories, most of them
        part = whole.born(since=since, before=since + timedelta(days=1))
        found.append(Day(f"{name}-{number + 1}", part.files, part.names))
    return found


class Known:
    """Makes creates of births, with the history before each of them, from earlier calls, too.

    Days must come in the order of their time.
    """

    def __init__(self) -> None:
        self._histories: dict[str, History] = {"file": History(), "name": History()}

    def __call__(self, subject: Subject, births: pa.Table) -> pa.Table:
        """Return the creates of ``births``, row by row."""
        if subject == "directory":
            return from_directories(births)
        result = births.append_column(
            "history", self._histories[subject].follow(births, DEFAULTS.behind)
        )
        return from_files(result) if subject == "file" else from_names(result)


def labelled_since(
    day: Day, predicates: Mapping[str, Predicate], since: int
) -> dict[str, Labelled]:
    """Return the births of a day at ``since`` or later, microseconds, to test predicates on.

    Their history has the whole day's earlier births. Predicates are about files and names.
    """
    found = {}
    for subject, own in labelled(predicates, day.files, day.names, Known()).items():
        later = pa.array(own.lives["born"].cast(pa.int64()).to_numpy() >= since)
        lives, creates = own.lives.filter(later), own.creates.filter(later)
        found[subject] = Labelled.of(lives, creates, own.predicates)
    return found
