"""`fleet page`: a file that shows a run in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from maloko._maloko import fleet_page
from maloko.fleet._commands.find import order_of, run_of
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import progress_document, row_of, say, tell_caller
from maloko.fleet._ends import FleetError
from maloko.fleet._loop import waited_for


def write(asked: Request) -> int:
    """Writes the page of a run as it is now."""
    run = run_of(asked)
    order = waited_for(order_of(run))
    progress = run.progress()
    ends = waited_for(run.all_ends())
    document: dict[str, Any] = {
        **progress_document(progress),
        "fleet": order["plan"]["fleet"],
        "outcome": progress.outcome,
        "began": progress.began,
        "stacks": [
            {name: stack[name] for name in ("id", "labels", "needs", "wave", "queue")}
            for stack in order["plan"]["stacks"]
        ],
        "ends": [end.wire() for end in ends],
        "atWork": [
            {**row_of(stack), "retrying": not stack.is_running and stack.attempt > 1} for stack in progress.at_work
        ],
    }
    page = fleet_page(json.dumps(document))
    if asked.get("output") == "-":
        tell_caller(page)
        return 0
    file = Path(asked.get("output") or f"{run.id.replace('/', '-')}.html")
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise FleetError(f"{file} cannot be written: {error.strerror}; name another file with --output") from error
    say(f"wrote {file}")
    return 0
