"""Processes that end with the one that began them."""

from __future__ import annotations

import os
import signal
import threading
import time

GLANCE = 0.5
"""How often a process looks whether the one that began it is still there, seconds."""


def end_with(parent: int, by: signal.Signals) -> None:
    """End this process by a signal once its `parent` was killed: nobody waits for what it does."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(GLANCE)
        os.kill(os.getpid(), by)

    threading.Thread(target=watch, daemon=True).start()
