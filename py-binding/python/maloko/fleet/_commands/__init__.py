"""`maloko fleet`: what its commands ask of the server. Rust reads the arguments, and makes the texts."""

from __future__ import annotations

import importlib
import json
import sys

from maloko._errors import MalokoError
from maloko.fleet._commands.request import Request
from maloko.fleet._commands.texts import say
from maloko.fleet._connection import wait_for_servers_here
from maloko.fleet._ends import FleetError
from maloko.fleet._signals import interruptible

_FAILURE = 1
_CONFIGURATION = 2
"""The exit code of what is wrong with arguments or files."""
_INTERRUPTED = 130

_BEGIN = ("up", "preview", "refresh", "destroy", "drift", "import", "outputs", "retry", "worker")
"""Commands that may be started together with their server."""
_PATIENCE = 20.0
"""Seconds that a server at this machine has to begin."""
_PATIENCE_OF_LOOKS = 3.0
"""The same for all other commands: where there is no server, there is nothing to see."""

_COMMANDS = {
    "up": ("start", "run"),
    "preview": ("start", "run"),
    "refresh": ("start", "run"),
    "destroy": ("start", "run"),
    "drift": ("start", "run"),
    "import": ("start", "run"),
    "outputs": ("start", "run"),
    "retry": ("start", "again"),
    "status": ("watch", "status"),
    "watch": ("watch", "watch"),
    "results": ("past", "results"),
    "history": ("past", "history"),
    "logs": ("past", "logs"),
    "page": ("past", "page"),
    "pause": ("steer", "pause"),
    "resume": ("steer", "resume"),
    "cancel": ("steer", "cancel"),
    "schedules": ("schedules", "run"),
    "worker": ("worker", "run"),
    "dev": ("dev", "run"),
    "adopt": ("adopt", "run"),
}
"""By command: the file and the function. Few need the SDK, or what workers need: that takes longer than they do."""


def run(text: str) -> int:
    """Performs a command; gives its exit code.

    :param text: the request, as the command line makes it
    """
    asked: Request = json.loads(text)
    # Processes that a command has started end with it.
    with interruptible():
        return _performed(asked)


def _performed(asked: Request) -> int:
    if asked["command"] != "dev":
        wait_for_servers_here(say, _PATIENCE if asked["command"] in _BEGIN else _PATIENCE_OF_LOOKS)
    try:
        file, function = _COMMANDS[asked["command"]]
        code: int = getattr(importlib.import_module(f"maloko.fleet._commands.{file}"), function)(asked)
    except FleetError as error:
        print(f"error: {error}", file=sys.stderr)
        return _FAILURE
    except MalokoError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CONFIGURATION
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code
