"""kill -9 of the nightly run, at any instant: the next one finishes its work, alike."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.faults.commands import KilledBefore
from tests.faults.site import CONFIG, Site
from tests.serving.services import alive
from tests.waiting import eventually

pytestmark = pytest.mark.deep

Tell = Callable[[str], None]

SEED = 6
KILLS = {"intake": 6, "audit": 3, "test": 4, "parts": 4, "pointer": 3}
"""The number of the 20 instants in each step of a night."""


def instants(site: Site) -> list[str]:
    """Return random operations, the wanted number of each step, in the order of the night."""
    random, chosen = Random(SEED), set()
    for step, many in KILLS.items():
        own = [operation for operation in site.operations if site.step(operation) == step]
        chosen.update(random.sample(own, many))
    return [operation for operation in site.operations if operation in chosen]


def test_a_nightly_run_killed_at_20_instants_ends_as_one_that_was_not(
    site: Site, tell: Tell
) -> None:
    """Each run is killed later than the last, so that the remains of all kills add up."""
    answers = site.served()
    for number, operation in enumerate(instants(site), start=1):
        assert site.night(KilledBefore(site.label, operation)) == -signal.SIGKILL, operation
        seen = site.check()
        assert site.served() == answers
        assert number % 5 or (site.models("list"), site.models("verify")) == (0, 0)
        tell(f"nightly killed {number:2} of 20, {site.step(operation):8} {operation}: {seen}")
    assert site.night() == 0, site.output()
    assert site.differences() == []
    assert site.count() == site.rows
    tell(f"nightly run again: {len(site.done)} files as if undisturbed, {site.rows} operations")


def test_the_command_killed_while_its_processes_work_leaves_none_of_them(
    site: Site, tell: Tell
) -> None:
    """The forked command has one process; the command itself has one for each core."""
    config = site.home / "several.toml"
    config.write_text(CONFIG.replace("workers = 1", "workers = 2"))
    answers, random = site.served(), Random(SEED)
    for work in ("trace", "model"):
        pattern = {"trace": ".incoming/.*", "model": ".work-*"}[work]
        command = [sys.executable, "-m", "birthmark", "nightly", "--config", str(config)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            begun = eventually(lambda p=pattern: any(site.home.glob(f"datasets/{p}")), 120)
            time.sleep(random.uniform(0, 0.3))  # not a wait: the instant is random
            own = group(process.pid)
            process.kill()
        assert begun
        assert process.returncode == -signal.SIGKILL
        assert len(own) >= 2
        assert eventually(lambda own=own: not any(map(alive, own)), 60)
        tell(f"birthmark nightly killed at work on a {work}: its processes end; {site.check()}")
        assert site.served() == answers
    config.unlink()
    assert site.night() == 0, site.output()
    assert site.differences() == []
    tell("nightly run again: as if undisturbed")


def test_a_process_that_had_no_task_yet_ends_with_the_one_that_was_killed(tmp_path: Path) -> None:
    at_work = tmp_path / "at-work"
    task = f"import pathlib, time; pathlib.Path({str(at_work)!r}).touch(); time.sleep(600)"
    program = f"""if True:
        from pathlib import Path
        from joblib import delayed
        from birthmark.training.config import Engine
        from birthmark.training.engine import opened
        with opened(Engine(workers=2), Path({str(tmp_path)!r})) as workers:
            workers.run([delayed(exec)({task!r})])
    """
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        begun = eventually(lambda: at_work.exists() and len(group(process.pid)) == 2, 120)
        own = group(process.pid)
        process.kill()
    assert begun
    assert len(own) == 2
    assert eventually(lambda: not any(map(alive, own)), 60)


def group(process: int) -> list[int]:
    """Return the workers that a process has started (Linux)."""
    found = subprocess.run(
        ["pgrep", "-P", str(process), "-f", "LokyProcess"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(line) for line in found.stdout.split()]
