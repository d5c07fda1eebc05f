"""The compiled part of the research folder."""

from pathlib import Path

REASONS: dict[str, type[Exception]]

def storage_stack(asked_json: str) -> str:
    """Let stacks of optimizations serve a load that is made up by chance, and tell what that took.

    Takes an object with the load's ``shape`` and ``seed``, a ``drive``, and ``runs``: each a
    ``scale``, by how much the drive is another, the stack's ``rules``, and whether the issuers are
    ``open``, that is, wait for nothing. Returns a list of figures,
    one for each run. Raises ``StorageError`` if any of them cannot be.
    """

def storage_validate(trace: str | Path, drive_json: str, drive: str | Path) -> str:
    """Let a drive serve a trace of requests that were measured, and compare the response times.

    ``trace`` is plain or compressed; ``drive`` is where the parameters in ``drive_json`` come from,
    for what errors say. Returns JSON: ``requests``, ``mean_ms``, ``measured_mean_ms``,
    ``demerit_ms`` and ``parts_ms``, and the same for ``reads`` and ``writes`` alone. Raises
    ``StorageError`` if there is no such drive, or the trace is none or asks for what the drive has
    not, and ``OSError`` if it cannot be read.
    """

def storage_attached(experiment: str) -> str:
    """Let a server, or disks on the network, serve files to clients.

    ``experiment`` is JSON: ``system`` as ``Attached`` in ``research/simulator/src/attached``;
    ``load``, one of ``{"nfs": ...}``, ``{"web": ...}`` and ``{"trace": PATH}``; ``seed``;
    ``warm_up``, requests that only the caches see; and ``requests``, how many are served then at
    most. Returns JSON, as ``Answered`` there. Raises ``StorageError`` if there is no such system,
    or the trace is none, and ``OSError`` if it cannot be read.
    """

def storage_replay(trace: str | Path, asked: str, drive: str | Path) -> str:
    """Let a drive serve a trace of a block device.

    ``trace`` is plain or compressed; ``asked`` is JSON: ``drive``, its parameters;
    ``sector_bytes``; ``format`` (null: what it looks like); ``order``; ``wrap``; and ``issue``,
    one of ``{"open": {"faster": X}}``, ``{"dependent": {"faster": X}}`` and
    ``{"population": {"clients": N, "think_ms": T}}``. ``drive`` is where the parameters come from,
    for what errors say. Returns JSON, as ``Replayed`` in ``research/simulator/src/replay``. Raises
    ``StorageError`` if there is no such drive, or the trace is none or asks for what the drive has
    not, and ``OSError`` if it cannot be read.
    """

def storage_theory(case: str, customers: int, seed: int) -> str:
    """Simulate so many customers of a case that queueing theory has a formula for.

    ``case`` is JSON, one of ``{"mm1": {"load": X}}``, ``{"md1": {"load": X}}``,
    ``{"mmc": {"places": N, "load": X}}`` and ``{"repair": {"clients": N, "think": X}}``. Returns
    JSON: the mean time in the system, ``found`` and ``expected``, in the mean of a piece of work.
    Raises ``StorageError`` if it is no case.
    """

def storage_bench(setup_json: str) -> str:
    """Run the benchmark of readers once, as ``Setup`` in ``research/simulator/src/bench`` says.

    Returns JSON, times in nanoseconds: ``ends`` of the readers, the first first, ``calls``,
    ``parts`` that these waited for, ``overtaken``, ``resent`` and ``in_order`` calls, ``counts`` of
    the heuristic, files ``ejected``, ``busy`` link and processors, ``events``. Raises
    ``StorageError`` if there is no such run.
    """

def storage_files(files_json: str) -> str:
    """Write files into a fresh file system, as ``Files`` in ``layout_hint/sim/src`` says.

    Returns JSON: for each file its ``extents``, runs of ``blocks`` from a ``sector`` on, and its
    ``maps``, the ``sector`` of a block of metadata and the ``blocks`` that need it. Raises
    ``StorageError`` if there is no such file system, or no room in it.
    """

def storage_stream(setup_json: str) -> str:
    """Read a file over NFS once, as ``Stream`` in ``research/simulator/src/stream`` says.

    Returns JSON: the ``time`` in nanoseconds, ``calls`` and how many were ``overtaken``,
    ``records`` and how many were read ``ahead``, how often a disk ``positioned``, ``events``.
    Raises ``StorageError`` if there are no such machines.
    """

def storage_counts(heuristic_json: str, offsets: list[int], bytes: int) -> list[int]:
    """Return how sequentially a heuristic says a file is read, after each of its reads.

    ``Choice`` in ``storage/simulator/src/readahead`` is the heuristic; reads have an offset and so
    many bytes. Raises ``StorageError`` if there is no such heuristic.
    """

def storage_ejections(table_json: str, readers: list[int]) -> list[float]:
    """Return how often a table of files ejects one that is being read, as a share of reads.

    For each number of readers, whose files are read in turn; ``TableRules`` in
    ``storage/simulator/src/readahead`` is the table. Raises ``StorageError`` if there is no such
    table.
    """
