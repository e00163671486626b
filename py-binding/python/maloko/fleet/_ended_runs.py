"""What a run that has ended left at the server: its result answers in place of its workers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from temporalio.client import WorkflowExecutionDescription, WorkflowHandle
from temporalio.service import RPCError

from maloko.fleet._wire import SHOWN, RunEnd


async def left_by(handle: WorkflowHandle[Any, Any], description: WorkflowExecutionDescription) -> RunEnd | None:
    """The result of a run; `None` while it goes on, and where it left none, as one that was cancelled."""
    if description.status is None or description.status.name != "COMPLETED":
        return None
    try:
        told = cast(RunEnd, await handle.result())
    except RPCError:
        # Its history may be gone. Whoever asks is told so by the question itself.
        return None
    return {"began": _began(description.close_time, told["seconds"]), **told}


def _began(closed: datetime | None, seconds: float) -> float:
    return 0.0 if closed is None else closed.timestamp() - seconds


def answer_of(told: RunEnd, query: str, arguments: tuple[Any, ...]) -> Any:
    """What its workflow would answer."""
    if query == "ends":
        # All at once: they are here, and the next question would fetch the result anew.
        since, _ = arguments
        return told["ends"][since:]
    failures = [end for outcome in ("skipped", "failed") for end in told["ends"] if end["outcome"] == outcome]
    began = told.get("began", 0.0)
    return {
        "fleet": told["fleet"],
        "verb": told["verb"],
        "began": began,
        "now": began + told["seconds"],
        "wave": told.get("wave", 1),
        "waves": told.get("waves", 1),
        "stacks": len(told["ends"]),
        "counts": told["counts"],
        "paused": False,
        "stopped": told["stopped"],
        "retries": [],
        "failures": failures[-SHOWN:],
        "failuresInAll": len(failures),
    }
