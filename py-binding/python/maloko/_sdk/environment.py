"""What the environment has of a run's own: its configuration, where Pulumi sets a variable for a process of its own.

Runs of one process have configurations of their own, so nothing is set: code gets that of the run it belongs to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from pulumi.runtime import config as sdk_config

from maloko._current import CURRENT_CALL

CONFIG_VARIABLE = "PULUMI_CONFIG"


class _RunEnvironment(os._Environ):  # type: ignore[type-arg]
    """The environment as it is, in provider methods with their run's configuration. Child processes do not get that."""

    def __getitem__(self, key: Any) -> Any:
        if key == CONFIG_VARIABLE and CURRENT_CALL.get() is not None:
            return json.dumps(sdk_config.CONFIG.get())
        return super().__getitem__(key)


@contextmanager
def config_variable() -> Iterator[None]:
    """Answers `os.environ["PULUMI_CONFIG"]` in provider methods."""
    environment = cast("Any", os.environ)
    original = type(environment)
    if original is not os._Environ:
        # Somebody else has replaced it: theirs is left alone.
        yield
        return
    environment.__class__ = _RunEnvironment
    try:
        yield
    finally:
        environment.__class__ = original
