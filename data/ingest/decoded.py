"""Decode a trace ahead of the others: the parallel step of an ingest.

Traces are independent until lives are followed through them, for each server in the order of time.
`decode` makes a directory of a trace, and `combine` a dataset of several directories:

    <decoded>/dataset/     the tables that need no other trace: operations, messages, quarantine
    <decoded>/lives.arrow  the columns of operations that lives need, in the order of the trace
    <decoded>/gaps.arrow   gaps with lost calls, each before the operations that revealed it
    <decoded>/loss.arrow   the rows of the loss table
    <decoded>/trace.json   the trace's description and counts

The dataset has the same rows as `data.ingest.run.ingest` makes of the traces.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby, starmap
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.common import durable
from birthmark.data.datasets import ingests
from birthmark.data.datasets.partitions import OTHERS, busiest
from birthmark.data.datasets.tables import TABLES, DatasetWriter, folder
from birthmark.data.ingest.lives import Rows, take_finished, take_rest, update
from birthmark.data.ingest.loss import Losses
from birthmark.data.ingest.run import error_context, set_aside
from birthmark.data.ingest.summary import IngestSummary
from birthmark.data.traces.reader import Chunk, Trace, open_trace
from birthmark_native import LivesBuilder

ATTRIBUTES = ("ftype", "nlink", "owner", "group", "size", "atime", "mtime")
LIVES = [
    *("time", "reply_time", "server", "client", "op", "status", "uid", "gid", "entries"),
    *("fh", "name", "fh2", "name2", "new_fh", "offset", "count", "reply_count", "how"),
    *("set_ftype", "set_mode", "set_size", "set_atime_how", "set_mtime_how", "set_umask"),
    *("compound_index", "attributes_set", "dir_change_atomic", "dir_pre_change", "dir_change"),
    *(prefix + name for prefix in ("", "dir_", "dir2_") for name in ATTRIBUTES),
    *("ctime", "dir_pre_mtime", "layout_type", "stripe_unit", "last_offset"),
]
"""The columns of the operations table that lives need."""

_PART = "part"
_ABOUT = "trace.json"


def decode(trace: str | Path, out: Path) -> None:
    """Decode a trace into a directory, whole or not at all; an existing directory stays.

    Raises:
        OSError: the trace cannot be opened, or `out` cannot be written.
        ValueError: the file is no trace, or cannot be converted; the message names it.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with error_context(trace):
        durable.made(out, lambda temporary: _decode(open_trace(trace), temporary))


def _decode(trace: Trace, out: Path) -> None:
    rows = {"operations": 0, "messages": 0}
    with DatasetWriter(out / "dataset", _PART) as dataset, _Streams(out) as streams:
        for number, chunk in enumerate(trace.chunks()):
            streams.write("gaps", chunk.gaps, number)
            streams.write("loss", chunk.loss, number)
            streams.write("lives", [batch.select(LIVES) for batch in chunk.operations], number)
            for table, batch in chunk.rows():
                if table in rows:
                    dataset.write(table, batch)
                    rows[table] += batch.num_rows
            set_aside(dataset, trace.path, chunk.damaged)
    names = ("path", "format", "compression", "generated", "tells_loss")
    about = {name: getattr(trace, name) for name in names}
    about |= {"rows": rows, "counts": trace.counts()}
    about |= {"traffic": dataset.places.traffic(), "others": dataset.places.others()}
    (out / _ABOUT).write_text(json.dumps(about) + "\n", encoding="utf-8")


class _Streams(ExitStack):
    """Numbered files of record batches, which are closed at the end."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self._writers: dict[str, pa.RecordBatchStreamWriter] = {}

    def write(self, name: str, batches: Sequence[pa.RecordBatch], number: int) -> None:
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        for batch in batches:
            if name not in self._writers:
                path = str(self._directory / f"{name}.arrow")
                writer = pa.ipc.new_stream(path, batch.schema, options=options)
                self._writers[name] = self.enter_context(writer)
            self._writers[name].write_batch(batch, custom_metadata={"number": str(number)})


class Decoded:
    """A trace decoded by `decode`.

    Attributes:
        path, format, compression, generated, tells_loss: as those of `data.traces.reader.Trace`.
        counts: the result of `Trace.counts`.
        rows: the number of operations and messages.
        traffic, others: its servers, by `data.datasets.partitions.Partitions`.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        about: dict[str, Any] = json.loads((directory / _ABOUT).read_bytes())
        self.path: str = about["path"]
        self.format: str = about["format"]
        self.compression: str = about["compression"]
        self.generated: dict[str, Any] | None = about["generated"]
        self.tells_loss: bool = about["tells_loss"]
        self.counts: dict[str, Any] = about["counts"]
        self.rows: dict[str, int] = about["rows"]
        self.traffic: dict[str, int] = about["traffic"]
        self.others: dict[str, int] = about["others"]

    @property
    def period(self) -> tuple[int, int] | None:
        """The times of the first and the last message, in microseconds since the epoch."""
        return self.counts["period"] and tuple(self.counts["period"])

    def chunks(self) -> Iterator[Chunk]:
        """Yield the trace's chunks: of operations the columns that lives need, gaps and losses."""
        fields = {"operations": "lives", "gaps": "gaps", "loss": "loss"}
        streams = starmap(self._read, fields.items())
        merged = heapq.merge(*streams, key=itemgetter(0))
        for _, of_chunk in groupby(merged, key=itemgetter(0)):
            batches = defaultdict(list)
            for _, field, batch in of_chunk:
                batches[field].append(batch)
            yield Chunk(**batches)

    def place(self, dataset: DatasetWriter, place: int, servers: Collection[str]) -> None:
        """Add the finished tables to a dataset, by the trace's place among its traces.

        Servers outside `servers` go to the others.
        """
        root, number = self._directory / "dataset", f"{dataset.number}.{place:04d}"
        rest = sorted({*self.traffic} - {*servers})
        others = {folder(server): f"-{at + 1:03d}" for at, server in enumerate(rest)}
        files = (path for path in root.rglob("*") if path.is_file())
        for path in sorted(path for path in files if path.parent.name != ingests.FOLDER):
            table, *parts = path.relative_to(root).parts
            name = number + path.name.removeprefix(_PART)
            if parts[0] in others:
                name = number + others[parts[0]] + path.name.removeprefix(_PART)
                parts[0] = folder(OTHERS)
            dataset.add_file(path, Path(table, *parts).with_name(name))

    def _read(self, field: str, name: str) -> Iterator[tuple[int, str, pa.RecordBatch]]:
        """Yield batches of a file, each with the number of its chunk, and its field there."""
        path = self._directory / f"{name}.arrow"
        if not path.exists():
            return
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
            while True:
                try:
                    batch, metadata = reader.read_next_batch_with_custom_metadata()
                except StopIteration:
                    return
                yield int(metadata["number"]), field, batch


def combine(decoded: Sequence[Path], out: Path, known_as: Path | None = None) -> IngestSummary:
    """Make a dataset in the empty directory `out` of decoded traces, in the order of their time.

    They are one stretch of a server's life, as for `run.ingest`. The decoded traces do not change.
    `known_as` is the dataset's name in the summary, if it is to be renamed.

    Raises:
        OSError: the dataset cannot be written.
    """
    summary = IngestSummary(str(known_as or out), rows=dict.fromkeys(TABLES, 0))
    lives, losses = LivesBuilder(), Losses()
    servers, summary.others = _separate_servers(map(Decoded, decoded))
    with DatasetWriter(out, servers=servers) as dataset:

        def write(rows: Rows) -> None:
            for table, batch in rows:
                dataset.write(table, batch)
                summary.rows[table] += batch.num_rows

        for place, one in enumerate(map(Decoded, decoded), start=1):
            lives.set_losses_known(one.tells_loss)
            for chunk in one.chunks():
                update(lives, chunk)
                for batch in chunk.loss:
                    losses.add(batch)
                write([*(("loss", batch) for batch in chunk.loss), *take_finished(lives)])
            summary.add(one, one.counts)
            summary.rows |= {table: summary.rows[table] + n for table, n in one.rows.items()}
            one.place(dataset, place, servers)
        for rest in take_rest(lives):
            write(rest)
        summary.loss = losses.estimate()
        dataset.write_record(summary.record())
    return summary


def _separate_servers(traces: Iterable[Decoded]) -> tuple[list[str], dict[str, int]]:
    """Return the servers with most traffic in all traces, and the counts of the others.

    A server among the others of several traces counts in each.
    """
    traffic, others = Counter[str](), Counter[str]()
    for one in traces:
        traffic.update(one.traffic)
        others.update(one.others)
    separate = busiest(traffic)
    rest = {*traffic} - {*separate}
    others.update(servers=len(rest), rows=sum(traffic[server] for server in rest))
    return separate, {"servers": others["servers"], "rows": others["rows"]}
