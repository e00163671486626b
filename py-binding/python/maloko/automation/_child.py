"""An operation of a local program: it runs in a process of its own, for it has a working directory, modules and a
`sys.argv` of its own. Output, events, reports of progress and the outcome come back through pipes and a private file.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from pulumi.automation import CommandResult

from maloko._reasons import Why, why_of
from maloko.automation._listeners import Listeners
from maloko.automation._outcomes import CommandOutcome, Operation
from maloko.automation._progress import EVERY
from maloko.automation._running import Run
from maloko.automation._threads import SCOPE
from maloko.automation.errors import LocalProgramError

_LOOK_SECONDS = 0.1
"""How often it is looked whether the process has ended, where something keeps its pipes open."""
_NOTHING_YET = '{"done": 0, "total": 0, "failed": 0, "reports": 0, "slowest": []}'
"""The report of a process that has not reported."""
_READ_SIZE = 65536
_ENDED_BY_SIGNAL = 255
"""The exit code of a process that could not give one."""


class _Child:
    """The process, as something that can be cancelled and asked how far it has come."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.last_report = _NOTHING_YET

    def progress(self) -> str:
        """What it reported last."""
        return self.last_report

    def cancel(self) -> None:
        """Tells it as Ctrl-C does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)


def run_child(
    arguments: list[str],
    directory: str,
    variables: Mapping[str, str],
    listeners: Listeners,
    began: Callable[[Run], None] = lambda run: None,
    progress_every: float = EVERY,
) -> CommandOutcome:
    """Runs a command in a process of its own and waits for it.

    An exception that arrives meanwhile (Ctrl-C) cancels the command; it is raised when the process has ended.
    """
    with tempfile.TemporaryDirectory(prefix="maloko-outcome-") as private:
        outcome = Path(private, "outcome.json")
        # Whoever asks for progress may come later.
        pipes = {"progress": _Pipe(), **({"event": _Pipe()} if listeners.wants_events else {})}
        extra = ["--outcome-file", str(outcome), "--progress-log", pipes["progress"].file]
        extra += ["--progress-every", str(progress_every)]
        if "event" in pipes:
            extra += ["--event-log", pipes["event"].file]
        command = [sys.executable, "-m", "maloko", "--non-interactive", *_before_separator(arguments, extra)]
        try:
            process = subprocess.Popen(
                command,
                cwd=directory,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[pipe.theirs for pipe in pipes.values()],
                # Ctrl-C on a terminal reaches this process, which passes it on: the child hears of it once.
                start_new_session=True,
            )
        except BaseException:
            for pipe in pipes.values():
                pipe.close()
            raise
        child = _Child(process)
        began(child)
        scope = SCOPE.get()
        if scope is not None:
            scope.enter(child)
        try:
            interrupted = _follow(process, child, pipes, listeners)
        finally:
            if scope is not None:
                scope.leave(child)
        if interrupted is not None:
            raise interrupted
        operation, why = _read_outcome(outcome)
    code = process.returncode
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        listeners.take(("err", f"error: the process of the local program was ended by {name}\n".encode()))
        code = _ENDED_BY_SIGNAL
    listeners.end()
    result = CommandResult(stdout=listeners.out.text(), stderr=listeners.err.text(), code=code)
    return CommandOutcome(result, operation, why)


class _Pipe:
    """A pipe of which one end goes to the child."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()

    @property
    def file(self) -> str:
        """The end of the child, as a file that it opens."""
        return f"/dev/fd/{self.theirs}"

    def close(self) -> None:
        os.close(self.ours)
        self.close_theirs()

    def close_theirs(self) -> None:
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1


def _before_separator(arguments: list[str], extra: list[str]) -> list[str]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:at], *extra, *arguments[at:]]


def _follow(
    process: subprocess.Popen[bytes], child: _Child, pipes: Mapping[str, _Pipe], listeners: Listeners
) -> BaseException | None:
    """Hands on what arrives until the process has ended; gives the exception that arrived meanwhile."""
    interrupted: BaseException | None = None
    begun = dict.fromkeys(pipes, b"")

    def take(kind: str, data: bytes) -> None:
        if kind not in pipes:
            listeners.take((kind, data))
            return
        *lines, begun[kind] = (begun[kind] + data).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace")
            if kind == "progress":
                child.last_report = text
            listeners.take((kind, text))

    streams: list[tuple[str, IO[bytes]]] = [
        (kind, stream) for kind, stream in (("out", process.stdout), ("err", process.stderr)) if stream is not None
    ]
    for kind, pipe in pipes.items():
        pipe.close_theirs()
        streams.append((kind, os.fdopen(pipe.ours, "rb", buffering=0)))
    with selectors.DefaultSelector() as selector:
        for kind, stream in streams:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, kind)
        ended = False
        while selector.get_map():
            try:
                # What a process leaves behind that outlives it is not waited for.
                ready = selector.select(0 if ended else _LOOK_SECONDS)
                if ended and not ready:
                    break
                for key, _ in ready:
                    data = os.read(key.fd, _READ_SIZE)
                    if data:
                        take(key.data, data)
                    else:
                        selector.unregister(key.fileobj)
                ended = process.poll() is not None
            except BaseException as error:  # a signal's handler may raise anything
                interrupted = error
                child.cancel()
    for _, stream in streams:
        stream.close()
    while True:
        try:
            process.wait()
            break
        except BaseException as error:
            interrupted = error
            child.cancel()
    return interrupted


def _read_outcome(file: Path) -> tuple[Operation | None, Why | None]:
    try:
        told = json.loads(file.read_bytes())
    except (OSError, ValueError):
        # It has not come so far.
        return None, None
    why = None if told["why"] is None else why_of(told["why"])
    if "outcome" not in told:
        return None, why
    exception = told["exception"]
    operation = Operation(
        outcome=told["outcome"],
        changes=told["changes"],
        error=told["error"],
        exception=None
        if exception is None
        else LocalProgramError(exception["type"], exception["message"], exception["traceback"]),
        urn=told["urn"],
        method=told["method"],
        read=tuple(told["read"]),
        warnings=tuple(told["warnings"]),
        differences=tuple(told["differences"]),
        page=told["page"],
    )
    return operation, why
