"""What provider code traces itself becomes a child of its call, where maloko traces the run, too."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable
from typing import Any

_Attach = Callable[[dict[str, str]], Any]
_attach: _Attach | None = None
_looked_for = False


def below_call(trace: tuple[str, str | None] | None, context: contextvars.Context) -> contextvars.Context:
    """A copy of the context in which spans are children of the call with this W3C `traceparent` and `tracestate`.

    It is the context itself where the call is not traced, or the program has no OpenTelemetry.
    """
    if trace is None:
        return context
    attach = _attach_of_program()
    if attach is None:
        return context
    parent, state = trace
    carrier = {"traceparent": parent, **({"tracestate": state} if state else {})}
    context = context.copy()
    with contextlib.suppress(Exception):  # the program's own version of the package may be any
        context.run(attach, carrier)
    return context


def _attach_of_program() -> _Attach | None:
    """What makes a remote span the current one. The package is the program's: one that has none gets none."""
    global _attach, _looked_for
    if not _looked_for:
        with contextlib.suppress(Exception):
            from opentelemetry import context
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            propagator = TraceContextTextMapPropagator()

            def attach(carrier: dict[str, str]) -> Any:
                return context.attach(propagator.extract(carrier, context.get_current()))

            _attach = attach
        _looked_for = True
    return _attach
