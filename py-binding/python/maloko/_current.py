"""The provider call that code belongs to, and how it learns that nobody waits for it any longer."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

_lock = threading.Lock()


class ProviderCall:
    """One call of a provider method."""

    __slots__ = ("_end", "_event", "_is_cancelled", "_note_used_key", "_operation_key", "method", "urn")

    def __init__(
        self, urn: str, method: str, operation_key: str = "", note_used_key: Callable[[str], None] | None = None
    ) -> None:
        self.urn = urn
        """The resource on whose behalf the call is made; empty outside of calls."""
        self.method = method
        """The method's name; empty outside of calls."""
        self._operation_key = operation_key
        self._note_used_key = note_used_key
        self._is_cancelled = False
        self._event: threading.Event | None = None
        self._end: Callable[[], object] | None = None

    @property
    def operation_key(self) -> str:
        """In `create`: a key that stays the same for every attempt to make this object, on whatever machine, until one
        is known to have succeeded. Pass it on as an idempotency key. Empty in all other methods."""
        note, self._note_used_key = self._note_used_key, None
        if note is not None:
            note(self.urn)
        return self._operation_key

    @property
    def cancelled(self) -> threading.Event:
        """Set when the run is cancelled or the call has taken too long. Wait for it in place of sleeping:
        `if call.cancelled.wait(5): ...`."""
        with _lock:
            if self._event is None:
                self._event = threading.Event()
                if self._is_cancelled:
                    self._event.set()
            return self._event

    def was_cancelled(self) -> bool:
        """Has the code been told to end?"""
        return self._is_cancelled

    def cancel(self) -> None:
        """Tells the code, once, that nobody waits for it any longer."""
        with _lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            event, end = self._event, self._end
        if event is not None:
            event.set()
        if end is not None:
            end()

    def on_cancel(self, end: Callable[[], object]) -> None:
        """Takes what ends the method's task."""
        with _lock:
            self._end = end
            late = self._is_cancelled
        if late:
            end()


CURRENT_CALL: contextvars.ContextVar[ProviderCall | None] = contextvars.ContextVar("maloko_call", default=None)
"""Set while a provider method runs, also in the tasks and threads that it starts."""


def current_call() -> ProviderCall:
    """The provider call that the current code belongs to.

    Outside of calls (in a test that calls a method itself) it is a call without a resource that is never cancelled.
    """
    return CURRENT_CALL.get() or ProviderCall("", "")
