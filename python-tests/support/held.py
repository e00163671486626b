"""What a process holds of the kernel, for tests of what is left behind."""

import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 30.0


def _entries(kind: str) -> int:
    return len(list(Path("/proc/self", kind).iterdir()))


@dataclass(frozen=True)
class Held:
    """Threads and open descriptors of this process."""

    threads: int
    files: int

    @classmethod
    def now(cls) -> "Held":
        return cls(_entries("task"), _entries("fd"))

    def is_as(self, before: "Held") -> bool:
        """No thread and no descriptor more: `before` may have counted one that was ending."""
        return self.threads <= before.threads and self.files <= before.files


def settled(before: Held) -> Held:
    """What is held once it is as `before`, or after half a minute.

    A thread that has ended is listed for a moment longer; one that is left behind is listed for good.
    """
    end = time.monotonic() + PATIENCE
    now = Held.now()
    while not now.is_as(before) and time.monotonic() < end:
        time.sleep(0.01)
        now = Held.now()
    return now
