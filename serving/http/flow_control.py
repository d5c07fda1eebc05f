"""Flow control of a connection."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.flow_control import FlowControl


class Flow(FlowControl):
    """uvicorn's flow control, with a hold on reading that `resume_reading` does not end."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = self._resume_wanted = False

    def hold(self) -> None:
        """Stop reading until `release`."""
        if not self._held:
            self._held, self._resume_wanted = True, not self.read_paused
            super().pause_reading()

    def release(self) -> None:
        """Resume reading, unless it is paused for another reason."""
        self._held = False
        if self._resume_wanted:
            super().resume_reading()

    def pause_reading(self) -> None:
        """Pause reading."""
        self._resume_wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        """Resume reading, now or after `release`."""
        self._resume_wanted = True
        if not self._held:
            super().resume_reading()
