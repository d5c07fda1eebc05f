"""A follower killed at any instant has, after a restart, the history of one never killed."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders.followed import hours
from tests.data.follow.traffic import KILLS, Followed, Traffic
from tests.faults import commands

CHANGES = 1_500
"""A follower is killed before one of this many changes of files, counted from its start."""


class KilledBefore:
    """Kills a process (SIGKILL) just before its n-th change of files; never if there are fewer."""

    def __init__(self, changes: int) -> None:
        self._left = changes

    def __call__(self) -> None:
        """Begin watching, in the process to be killed."""
        sys.addaudithook(self._see)
        late = threading.Timer(5, os.kill, (os.getpid(), signal.SIGKILL))
        late.daemon = True
        late.start()

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in commands.CHANGES or (event == "open" and arguments[1] in ("r", "rb")):
            return
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at_an_instant(followed: Followed, chance: random.Random) -> None:
    with followed.follower() as process:
        time.sleep(chance.uniform(0, 2))  # not a wait: the instant is random
        process.kill()


def killed_before_a_change(followed: Followed, chance: random.Random) -> None:
    killer = KilledBefore(chance.randrange(1, CHANGES))
    log = followed.out.parent / "log"
    assert commands.run(log, *followed.command, before=killer) == -signal.SIGKILL


@pytest.mark.deep
@pytest.mark.parametrize("kill", [killed_at_an_instant, killed_before_a_change])
def test_a_follower_killed_20_times_gives_the_same_answers(
    traffic: Traffic, tmp_path: Path, kill: Callable[[Followed, random.Random], None]
) -> None:
    killed, chance = Followed(tmp_path / "killed"), random.Random(16)
    *parts, last = traffic.parts
    assert len(parts) == KILLS
    for part in parts:
        killed.bring(part)
        kill(killed, chance)
    assert 1 < len(hours(killed.out)) < 2 * KILLS
    killed.bring(last)
    assert killed.answers(traffic.asked, traffic.ended) == traffic.answers
    assert killed.saved() == traffic.saved
    assert killed.rows() == traffic.expected
