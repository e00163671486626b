"""A command on a pseudo-terminal, with somebody who reads and types."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from cli import MALOKO, Project

PSEUDO_TERMINAL = Path(__file__).with_name("pseudo_terminal.py")
_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_FRAME = re.compile(r"\x1b\[\?2026h(.*?)\x1b\[\?2026l", re.DOTALL)
_PATIENCE_SECONDS = 200


class Terminal:
    """Shows a command of a project."""

    def __init__(self, project: Project, *arguments: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PSEUDO_TERMINAL), *MALOKO, *arguments],
            cwd=project.directory,
            env=project.variables(arguments, TERM="xterm", **environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._written = b""
        self._seen = 0
        self._arrived = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while piece := os.read(self._process.stdout.fileno(), 65536):
            with self._arrived:
                self._written += piece
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    @property
    def raw(self) -> str:
        """All that was written so far."""
        return self._written.decode(errors="replace")

    @property
    def text(self) -> str:
        """The same without what moves the cursor, one live view after the other."""
        return _SEQUENCES.sub("", self.raw).replace("\r", "")

    @property
    def view(self) -> str:
        """The live view that was drawn last."""
        frames = _FRAME.findall(self.raw)
        return _SEQUENCES.sub("", frames[-1]).replace("\r", "") if frames else ""

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Waits until something holds of what is shown."""
        end = time.monotonic() + _PATIENCE_SECONDS
        with self._arrived:
            while not holds():
                left = end - time.monotonic()
                if left <= 0 or self._ended:
                    raise AssertionError(f"{what} was never shown:\n{self.text}")
                self._arrived.wait(left)

    def shows(self, pattern: str) -> re.Match[str]:
        """Waits until the live view has this, and gives what it has."""
        found: list[re.Match[str]] = []
        self.until(lambda: found.extend(re.finditer(pattern, self.view)) or found, pattern)
        return found[0]

    def says(self, words: str) -> str:
        """Waits until this is written, after all that was waited for before; what stands between."""
        self.until(lambda: words in self.text[self._seen :], repr(words))
        start = self._seen
        self._seen = self.text.index(words, start) + len(words)
        return self.text[start : self._seen]

    def types(self, keys: str) -> None:
        """Types this; a line ends with a line feed, and Ctrl-C is `\\x03`."""
        assert self._process.stdin is not None
        self._process.stdin.write(keys.encode())
        self._process.stdin.flush()

    def ends(self, code: int = 0) -> str:
        """Waits for the end of the command, which has this exit code; what stood there since it was last looked at."""
        self._reader.join(_PATIENCE_SECONDS)
        assert not self._reader.is_alive(), f"it did not end:\n{self.text}"
        assert self._process.wait() == code, self.text
        return self.text[self._seen :]
