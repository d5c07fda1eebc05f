"""Several workers look like one service to a client.

Tests also data/common/orphans.py, serving/metrics/multiprocess.py, serving/workers/worker.py.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.deep

WORKERS = 2


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory, publish: Callable[..., str]) -> Path:
    path = tmp_path_factory.mktemp("workers") / "registry"
    publish(path, heat=True)
    return path


@pytest.fixture(scope="module")
def service(
    started: Callable[..., Any],
    eventually: Callable[..., bool],
    registry: Path,
) -> Iterator[Any]:
    log = ("--log-predictions", str(registry.parent / "rows"), "--log-minutes", "0.001")
    with started(registry, registry.parent, "--workers", str(WORKERS), *log) as service:
        assert eventually(lambda: loaded(service) == WORKERS, 300)
        yield service


def children(process: int) -> set[int]:
    """Return the children of a process (Linux)."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
            command = status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(lines["PPid"]) == process and b"spawn_main" in command:
            found.add(int(lines["Pid"]))
    return found


def total(service: Any, metric: str) -> float:
    """Return a metric, which any worker has for all of them."""
    with service.client() as client:
        text = client.get("/metrics").text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(metric))


def loaded(service: Any) -> float:
    """Return how many models the workers have loaded."""
    return total(service, 'birthmark_model_loads_total{outcome="loaded"}')


def requests(service: Any) -> float:
    """Return how many requests for /healthz there have been."""
    return total(service, 'birthmark_request_seconds_count{route="/healthz"')


def ask(service: Any, times: int) -> None:
    """Send requests, each on a new connection, which any worker may accept."""
    for _ in range(times):
        with service.client() as client:
            assert client.get("/healthz").status_code == 200


def test_metrics_are_summed_over_all_workers(service: Any) -> None:
    before = requests(service)
    ask(service, 40)
    assert [requests(service) - before for _ in range(10)] == [40] * 10


def test_answers_and_log_rows_are_counted_over_all_workers(
    service: Any, eventually: Callable[..., bool]
) -> None:
    def counts() -> tuple[float, float]:
        rows = total(service, 'birthmark_log_rows_total{outcome="written"')
        return rows, total(service, "birthmark_predictions_total")

    assert counts() == (0, 0)
    for _ in range(20):
        with service.client() as client:
            answer = client.post("/v1/predictions", json={"name": "a.lock"}).json()
    expected = (20, 20 * len(answer["prediction"]["predicates"]))
    assert eventually(lambda: counts() == expected)
    assert [counts() for _ in range(10)] == [expected] * 10


def test_workers_have_the_model_in_memory_once(service: Any) -> None:
    def images(worker: int) -> set[str]:
        """Return the files of a worker's mapped images."""
        maps = Path(f"/proc/{worker}/maps").read_text().splitlines()
        return {line.split()[-1] for line in maps if line.endswith(".image")}

    mapped = [images(worker) for worker in children(service.process.pid)]
    assert mapped[0]
    assert mapped == mapped[:1] * WORKERS


def test_a_hooks_report_is_shown_by_every_worker(service: Any) -> None:
    for host in ("nas1", "nas2", "nas3"):
        report = {"host": host, "device": "/dev/birthmark", "counters": {"asked": 1}}
        with service.client() as client:
            assert client.post("/v1/hints/report", json=report).status_code == 204
    for _ in range(5):
        with service.client() as client:
            text = client.get("/metrics").text
        assert text.count("birthmark_hook{") == 3


def images(process: int) -> tuple[int, int]:
    """Return the resident size of a process' mapped images, KB, and its share of it.

    The second divides each page by the number of processes that have it (proc(5), ``smaps``).
    """
    total = {"Rss": 0, "Pss": 0}
    mapped = False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            mapped = bool(rest) and rest[-1].endswith(".image")
        elif mapped and first[:-1] in total:
            total[first[:-1]] += int(rest[0])
    return total["Rss"], total["Pss"]


def test_workers_share_the_memory_of_the_models_images(service: Any) -> None:
    for worker in children(service.process.pid):
        resident, own = images(worker)
        assert resident > 0
        assert own <= resident // WORKERS + 4  # a page


def test_a_new_model_answers_everywhere(
    service: Any, registry: Path, publish: Callable[..., str], eventually: Callable[..., bool]
) -> None:
    version = publish(registry, heat=True)

    def versions() -> set[str]:
        found = set()
        for _ in range(20):
            with service.client() as client:
                found.add(client.get("/v1/model").json()["version"])
        return found

    assert eventually(lambda: versions() == {version}, 120)


def test_a_killed_worker_is_replaced_and_its_counts_stay(
    service: Any, eventually: Callable[..., bool]
) -> None:
    before, counted, loads = children(service.process.pid), requests(service), loaded(service)
    assert len(before) == WORKERS
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    assert eventually(lambda: len(children(service.process.pid) - {killed}) == WORKERS, 60)
    with service.client() as client:
        assert client.post("/v1/predictions", json={"name": "a.lock"}).status_code == 200
    assert eventually(lambda: loaded(service) == loads + 1, 300)
    assert requests(service) >= counted


def test_workers_end_with_their_supervisor(
    started: Callable[..., Any],
    eventually: Callable[..., bool],
    registry: Path,
    tmp_path: Path,
) -> None:
    with started(registry, tmp_path, "--workers", str(WORKERS)) as service:
        workers = children(service.process.pid)
        service.process.kill()
        assert eventually(lambda: not any(alive(worker) for worker in workers))

        def free() -> bool:
            with socket.socket() as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                return listener.connect_ex(service.address) != 0

        assert eventually(free)


def alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_workers_end_on_sigterm_with_exit_code_0(
    started: Callable[..., Any], registry: Path, tmp_path: Path
) -> None:
    place = tmp_path / "socket"
    with started(
        registry, tmp_path, "--workers", str(WORKERS), "--uds", str(place), wait=False
    ) as service:
        transport = httpx.HTTPTransport(uds=str(place))
        with httpx.Client(transport=transport, base_url="http://x", timeout=300) as client:
            assert client.get("/healthz").status_code == 200
        workers = children(service.process.pid)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(120) == 0
        assert not any(alive(worker) for worker in workers)
        assert not place.exists()


def test_a_worker_that_cannot_start_ends_the_service_with_an_error(
    started: Callable[..., Any], registry: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "tokens.json"
    broken.write_text("no")
    with pytest.raises(AssertionError, match="expected a list of tokens"):  # noqa: SIM117
        with started(registry, tmp_path, "--workers", "2", "--tokens", str(broken)):
            pass
