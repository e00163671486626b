"""The host of a command line, which is not made, nor its modules loaded, before something is asked of it.

Most commands (`stack`, `config`, `state`, ...) run no program and call no provider. The event loop, the SDK's seams and
what tells one provider object from another would be most of the time that they take.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maloko._maloko import Pool
    from maloko._run.host import Host


class LateHost:
    """Stands for a `Host`. The native half holds it, and asks from its own threads, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._host: Host | None = None
        self._pool: Pool | None = None

    def attach_pool(self, pool: Pool) -> None:
        """Takes the pool that the native half made."""
        self._pool = pool

    def start_worker(self) -> None:
        """Starts a thread that polls the engine's tasks. Written out, for the native half takes this method at once."""
        self.made().start_worker()

    def made(self) -> Host:
        """The host itself."""
        with self._lock:
            if self._host is None:
                from maloko._run.host import Host
                from maloko._run.quiet import warning_of

                self._host = Host()
                self._host.watch = warning_of(self._host)
                if self._pool is not None:
                    self._host.attach_pool(self._pool)
            return self._host

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made(), name)
