"""A provider plugin under a law: `engine-kit/src/plugin_laws` does what the law asks for, and the world is here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from maloko.testing._laws._plugin import PluginFailed
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._trial import ExampleReport, end_with
from maloko.testing._laws._words import error_text, plain
from maloko.testing._laws._worlds import Place, asked_of
from maloko.testing._worlds import ids_of


def try_plugin(
    law: str,
    settings: Settings,
    place: Place,
    inputs: tuple[Any, ...],
    listed: int | None,
    tell: Callable[[ExampleReport], None],
) -> None:
    """Tries a law on one example, as `try_law` does for a provider object."""
    place.renew()
    world = place.now
    before = set() if world is None else set(ids_of(world))
    subject = {**settings.subject(world, inputs, listed), "baseline": plain(settings.former(law))}
    trial = settings.provider._with(settings.config_for(world)).trial(law, json.dumps(subject))
    answer: Any = None
    while (end := json.loads(trial.next(json.dumps(answer))))["do"] != "end":
        match end["do"]:
            case "renew":
                place.renew()
                world, answer = place.now, None
                before = set(ids_of(world))
            case "look":
                answer = sorted(id_ for id_ in ids_of(world) if id_ not in before)
            case _:
                answer = asked_of(world, end)
    raised = None if end["raised"] is None else PluginFailed(end["raised"])
    tell(ExampleReport(end["inputs"], error_text(raised) if raised else ""))
    end_with(end, raised or (PluginFailed("it failed") if end["outcome"] == "raised" else None))
