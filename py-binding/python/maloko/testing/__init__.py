"""Tests of programs and providers, with the real engine on a stack in memory (`maloko help testing`).

With pytest, the fixture `maloko` is a `Kit`; everything else is imported from here. What needs the SDK is loaded when
it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maloko.testing._crash import crash_everywhere as crash_everywhere
    from maloko.testing._direct import BadReturn as BadReturn
    from maloko.testing._direct import Direct as Direct
    from maloko.testing._kit import Kit as Kit
    from maloko.testing._laws._plugin import Plugin as Plugin
    from maloko.testing._laws._plugin import PluginFailed as PluginFailed
    from maloko.testing._laws._provider_laws import LawBroken as LawBroken
    from maloko.testing._laws._provider_laws import ProviderLaws as ProviderLaws
    from maloko.testing._lifecycle._life import Lifecycle as Lifecycle
    from maloko.testing._lifecycle._life import LifecycleBroken as LifecycleBroken
    from maloko.testing._lifecycle._machine import lifecycle_machine as lifecycle_machine
    from maloko.testing._operations._calls import Call as Call
    from maloko.testing._operations._calls import Calls as Calls
    from maloko.testing._operations._outcome import Change as Change
    from maloko.testing._operations._outcome import Plan as Plan
    from maloko.testing._operations._outcome import PlanEntry as PlanEntry
    from maloko.testing._operations._outcome import Run as Run
    from maloko.testing._operations._outcome import RunFailed as RunFailed
    from maloko.testing._operations._outcome import assert_no_changes as assert_no_changes
    from maloko.testing._operations._outcome import assert_no_deletes as assert_no_deletes
    from maloko.testing._operations._outcome import assert_no_replacements as assert_no_replacements
    from maloko.testing._operations._outcome import assert_upgrade_safe as assert_upgrade_safe
    from maloko.testing._operations._policies import Remediation as Remediation
    from maloko.testing._operations._policies import Violation as Violation
    from maloko.testing._operations._stack import Stack as Stack
    from maloko.testing._recorded._exported import exported_inputs as exported_inputs
    from maloko.testing._recorded._replay import replay as replay
    from maloko.testing._values import ANY as ANY
    from maloko.testing._values import SECRET as SECRET
    from maloko.testing._values import UNKNOWN as UNKNOWN
    from maloko.testing._values import Secret as Secret
    from maloko.testing._values import capture as capture
    from maloko.testing._values import matches as matches

_NAMES = {
    "_crash": "crash_everywhere",
    "_direct": "BadReturn Direct",
    "_kit": "Kit",
    "_laws._plugin": "Plugin PluginFailed",
    "_laws._provider_laws": "LawBroken ProviderLaws",
    "_lifecycle._life": "Lifecycle LifecycleBroken",
    "_lifecycle._machine": "lifecycle_machine",
    "_operations._calls": "Call Calls",
    "_operations._outcome": "Change Plan PlanEntry Run RunFailed "
    "assert_no_changes assert_no_deletes assert_no_replacements assert_upgrade_safe",
    "_operations._policies": "Remediation Violation",
    "_operations._stack": "Stack",
    "_recorded._exported": "exported_inputs",
    "_recorded._replay": "replay",
    "_values": "ANY SECRET UNKNOWN Secret capture matches",
}
_PLACES = {name: place for place, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'maloko.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"maloko.testing.{place}"), name)


def __dir__() -> list[str]:
    return sorted(_PLACES)
