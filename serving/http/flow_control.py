"""Flow control of a connection."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.flow_control import FlowControl


class Flow(FlowControl):
    """uvicorn's flow control, but that reading may be held, whoever would resume it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = self._wanted = False

    def hold(self) -> None:
        """Stop reading until it is let go."""
        if not self._held:
            self._held, self._wanted = True, not self.read_paused
            super().pause_reading()

    def let_go(self) -> None:
        """Read on, unless it is to pause for another reason."""
        self._held = False
        if self._wanted:
            super().resume_reading()

    def pause_reading(self) -> None:
        """Stop reading."""
        self._wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        """Read on, now or when it is let go."""
        self._wanted = True
        if not self._held:
            super().resume_reading()
