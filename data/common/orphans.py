"""Processes that end with their parent."""

from __future__ import annotations

import os
import signal
import threading
import time

GLANCE = 0.5
"""Seconds between checks that the parent still exists."""


def end_with(parent: int, by: signal.Signals) -> None:
    """End this process by a signal once its `parent` was killed, as nobody waits for its result."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(GLANCE)
        os.kill(os.getpid(), by)

    threading.Thread(target=watch, daemon=True).start()
