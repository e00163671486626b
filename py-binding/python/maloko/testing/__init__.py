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
    from maloko.testing._operations._plan import Change as Change
    from maloko.testing._operations._plan import Plan as Plan
    from maloko.testing._operations._plan import PlanEntry as PlanEntry
    from maloko.testing._operations._plan import assert_no_changes as assert_no_changes
    from maloko.testing._operations._plan import assert_no_deletes as assert_no_deletes
    from maloko.testing._operations._plan import assert_no_replacements as assert_no_replacements
    from maloko.testing._operations._runs import Run as Run
    from maloko.testing._operations._runs import RunFailed as RunFailed
    from maloko.testing._operations._stack import Stack as Stack
    from maloko.testing._recorded._baseline import Baseline as Baseline
    from maloko.testing._recorded._exported import exported_inputs as exported_inputs
    from maloko.testing._recorded._replay import replay as replay
    from maloko.testing._values import ANY as ANY
    from maloko.testing._values import SECRET as SECRET
    from maloko.testing._values import UNKNOWN as UNKNOWN
    from maloko.testing._values import Secret as Secret
    from maloko.testing._values import capture as capture
    from maloko.testing._values import matches as matches

_PLACES = {
    "ANY": "_values",
    "BadReturn": "_direct",
    "Baseline": "_recorded._baseline",
    "Call": "_operations._calls",
    "Calls": "_operations._calls",
    "Change": "_operations._plan",
    "Direct": "_direct",
    "Kit": "_kit",
    "LawBroken": "_laws._provider_laws",
    "Lifecycle": "_lifecycle._life",
    "LifecycleBroken": "_lifecycle._life",
    "Plan": "_operations._plan",
    "PlanEntry": "_operations._plan",
    "Plugin": "_laws._plugin",
    "PluginFailed": "_laws._plugin",
    "ProviderLaws": "_laws._provider_laws",
    "Run": "_operations._runs",
    "RunFailed": "_operations._runs",
    "SECRET": "_values",
    "Secret": "_values",
    "Stack": "_operations._stack",
    "UNKNOWN": "_values",
    "assert_no_changes": "_operations._plan",
    "assert_no_deletes": "_operations._plan",
    "assert_no_replacements": "_operations._plan",
    "capture": "_values",
    "crash_everywhere": "_crash",
    "exported_inputs": "_recorded._exported",
    "lifecycle_machine": "_lifecycle._machine",
    "matches": "_values",
    "replay": "_recorded._replay",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'maloko.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"maloko.testing.{place}"), name)


def __dir__() -> list[str]:
    return sorted(_PLACES)
