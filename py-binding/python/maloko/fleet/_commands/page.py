"""`fleet page`: a file that shows a run in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from maloko._maloko import fleet_page
from maloko.fleet._commands.find import order_of, run_of
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import progress_document, say
from maloko.fleet._loop import waited_for


def write(asked: Request) -> int:
    """Writes the page of a run as it is now."""
    run = run_of(asked)
    order = waited_for(order_of(run))
    progress = run.progress()
    ends = waited_for(run.all_ends())
    shown = progress_document(progress)
    document: dict[str, Any] = {
        **shown,
        "fleet": order["plan"]["fleet"],
        "outcome": progress.outcome,
        "began": progress.began,
        "stacks": [
            {name: stack[name] for name in ("id", "labels", "needs", "wave", "queue")}
            for stack in order["plan"]["stacks"]
        ],
        "ends": [end.wire() for end in ends],
        "atWork": shown["stacks"],
    }
    file = Path(asked.get("output") or f"{run.id}.html")
    file.write_text(fleet_page(json.dumps(document)), encoding="utf-8")
    say(f"wrote {file}")
    return 0
