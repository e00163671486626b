"""The caller's functions for output and events, and the texts that are kept for the result."""

from __future__ import annotations

import codecs
import contextvars
import functools
import json
import queue
import threading
from collections.abc import Callable
from typing import Any

from pulumi.automation import EngineEvent, OnEvent, OnOutput

from maloko.automation._progress import OnProgress, progress_of

Item = tuple[str, Any]

_DIAGNOSTIC = "diagnosticEvent"


class Lines:
    """Bytes of a stream, decoded and cut into lines."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self.all: list[str] = []

    def take(self, data: bytes, *, last: bool = False) -> list[str]:
        """The lines that are complete now, without their ends."""
        *lines, self._begun = (self._begun + self._decoder.decode(data, last)).split("\n")
        if last and self._begun:
            lines.append(self._begun)
            self._begun = ""
        lines = [line.rstrip() for line in lines]
        self.all.extend(lines)
        return lines

    def text(self) -> str:
        """All lines, as the official API joins them."""
        return "\n".join(self.all)


class Listeners:
    """Takes what a command writes and tells, and hands it to the caller's functions line by line.

    The first exception that one of them raises is kept for the end; the operation goes on, and nobody is told more.
    """

    def __init__(
        self,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        on_progress: OnProgress | None = None,
        on_printed: Callable[[str], None] | None = None,
    ) -> None:
        self.out = Lines()
        """What was written to stdout."""
        self.err = Lines()
        """What was written to stderr."""
        self.raised: BaseException | None = None
        """The first exception that one of the caller's functions raised."""
        self._on_line = {"out": on_output, "err": on_error}
        self._on_event = on_event
        self._on_progress = on_progress
        self._on_printed = on_printed
        """Is told what programs print, what else the run tells that is no warning and no error, and errors with a
        traceback, each once."""
        self._told_errors: set[str] = set()

    @property
    def wants_events(self) -> bool:
        """Is anybody to be told of events?"""
        return self._on_event is not None or self._on_printed is not None

    @property
    def wants_messages_alone(self) -> bool:
        """Are events that have a message all that somebody is to be told of?"""
        return self._on_event is None

    @property
    def wants_progress(self) -> bool:
        """Is anybody to be told how far it has come?"""
        return self._on_progress is not None

    def tells(self, kind: str) -> bool:
        """Is anybody to be told of such an item?"""
        return kind not in self._on_line or self._on_line[kind] is not None

    def take(self, item: Item) -> None:
        """Takes bytes of `out` or `err`, or the JSON of an `event` or a report of `progress`."""
        kind, data = item
        if kind == "event":
            if self._on_event is not None:
                self._call(self._on_event, lambda: EngineEvent.from_json(json.loads(data)))
            # Where all are told, few are looked at: there are some for each resource.
            if self._on_printed is not None and _DIAGNOSTIC in data:
                told = json.loads(data).get(_DIAGNOSTIC)
                if told is not None and self._is_for_printed(told):
                    self._call(self._on_printed, functools.partial(str, told["message"]))
            return
        if kind == "progress":
            if self._on_progress is not None:
                self._call(self._on_progress, lambda: progress_of(data))
            return
        lines = (self.out if kind == "out" else self.err).take(data)
        self._tell(kind, lines)

    def _is_for_printed(self, told: dict[str, Any]) -> bool:
        if told.get("ephemeral"):
            return False
        message = told["message"]
        # Those of one line are told by how the operation ends.
        if told["severity"] == "error" and "\n" in message and message not in self._told_errors:
            self._told_errors.add(message)
            return True
        return bool(told["severity"] == "info")

    def end(self) -> None:
        """Takes what was begun: nothing follows."""
        for kind, stream in (("out", self.out), ("err", self.err)):
            self._tell(kind, stream.take(b"", last=True))

    def _tell(self, kind: str, lines: list[str]) -> None:
        listener = self._on_line[kind]
        if listener is not None:
            for line in lines:
                self._call(listener, functools.partial(str, line))

    def _call(self, listener: Callable[[Any], Any], argument: Callable[[], Any]) -> None:
        if self.raised is None:
            try:
                listener(argument())
            except BaseException as error:  # the caller's function may raise anything; it is raised again at the end
                self.raised = error


class Delivery:
    """Between the engine's threads, which must not wait, and the listeners, which may be slow.

    Listeners are called one at a time, on a thread that Python made, in the caller's context.
    """

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._context = contextvars.copy_context()
        self._begins = threading.Lock()
        self._thread: threading.Thread | None = None
        """Begins with the first item that somebody is told of: most operations of a fleet have none."""

    def out(self, data: bytes) -> None:
        """Takes what is written to stdout."""
        self._take("out", data)

    def err(self, data: bytes) -> None:
        """Takes what is written to stderr."""
        self._take("err", data)

    def event(self, text: str) -> None:
        """Takes the JSON of an event."""
        self._take("event", text)

    def progress(self, text: str) -> None:
        """Takes the JSON of a report of progress."""
        self._take("progress", text)

    def _take(self, kind: str, data: Any) -> None:
        self._queue.put((kind, data))
        if self._thread is None and self._listeners.tells(kind):
            with self._begins:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._context.run, args=(self._work,), name="maloko-listeners", daemon=True
                    )
                    self._thread.start()

    def close(self) -> None:
        """Returns once everything was handed on."""
        self._queue.put(None)
        if self._thread is None:
            self._work()
        else:
            self._thread.join()

    def _work(self) -> None:
        for item in iter(self._queue.get, None):
            self._listeners.take(item)
        self._listeners.end()
