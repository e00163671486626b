"""Does what the steps of a plugin's lifecycle ask for: the engine's side (`engine-kit/src/plugin_lifecycle`) runs the
plugin, and the world is here."""

from __future__ import annotations

import json
from typing import Any

from maloko.testing._laws._plugin import METHODS, PluginFailed
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import plain
from maloko.testing._laws._worlds import OF_WORLD, Place, abilities_of, asked_of
from maloko.testing._worlds import ids_of


class PluginHost:
    """A plugin, its world, and all who deploy it; as `Host` is for a provider object."""

    def __init__(self, settings: Settings) -> None:
        """:param settings: what the author says of the plugin."""
        self._settings = settings
        self.place = Place(settings.world)
        """The world, over all examples."""
        self.place.renew()
        self.inputs: list[dict[str, Any]] = []
        """The inputs that steps are about, by their numbers."""
        self.program: dict[str, dict[str, Any]] = {}
        """What the program says."""
        self.failure: BaseException | None = None
        """What the last call or operation failed with."""
        self._life = settings.provider._with(settings.config_for(self.place.now)).life()

    def subject(self) -> dict[str, Any]:
        """What is known of the plugin and its world."""
        return {
            "name": self._settings.name,
            "methods": METHODS,
            "world": abilities_of(self.place.now),
            "resets": self.place.resets,
            "plugin": True,
            "volatile": sorted(self._settings.volatile),
        }

    def answer(self, request: dict[str, Any]) -> Any:
        """Does one thing."""
        world = self.place.now
        match request["do"]:
            case "look":
                return None if world is None else ids_of(world)
            case wanted if wanted in OF_WORLD:
                return asked_of(world, request)
            case "program":
                self.program = {name: self.inputs[number] for name, number in request["resources"].items()}
                return self._asked({**request, "resources": plain(self.program)})
            case "make-afresh":
                self.place.renew()
                return self._asked(self._with_inputs(request))
            case "check" | "make":
                return self._asked(self._with_inputs(request))
            case _:
                return self._asked(request)

    def _with_inputs(self, request: dict[str, Any]) -> dict[str, Any]:
        return {**request, "inputs": plain(self.inputs[request["inputs"]])}

    def _asked(self, request: dict[str, Any]) -> Any:
        answer = json.loads(self._life.answer(json.dumps(request)))
        error = answer.get("error") if isinstance(answer, dict) else None
        self.failure = None if error is None else PluginFailed(error)
        return answer

    def close(self) -> None:
        """Leaves the world."""
        self._life.close()
        self.place.end()
