"""The engine in the place of the `pulumi` executable that the official API starts for everything."""

from __future__ import annotations

import contextvars
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pulumi import automation as official
from pulumi.automation import CommandResult, OnEvent, OnOutput, PulumiFn
from semver import VersionInfo

from maloko._errors import MalokoError
from maloko._sdk.version import sdk_version
from maloko.automation._child import run_child
from maloko.automation._inside import absolute, run_inside
from maloko.automation._listeners import Listeners
from maloko.automation._outcomes import CommandOutcome, Operation
from maloko.automation._progress import EVERY, OnProgress
from maloko.automation._running import Run
from maloko.automation.errors import error_of

_OPERATIONS = frozenset(
    ("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch"),
)
_GROUPS = frozenset(("stack", "config", "cfg", "state"))
"""Commands whose own commands may have the name of an operation: `stack import`."""

LOG = logging.getLogger("maloko.automation")


class CommandRunner(Protocol):
    """What runs commands: a `PulumiCommand`, or an object of the caller's own, which may hand them on to one."""

    command: str
    version: Any

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        """Runs a command, and raises a `CommandError` when it fails."""


@dataclass
class Request:
    """What an operation asks of a command beyond the official signature."""

    program: PulumiFn | None
    """The inline program."""
    on_event: OnEvent | None
    began: Callable[[Run], None]
    """Is given what the command can be cancelled by, and what says how far it has come."""
    on_progress: OnProgress | None = None
    progress_every: float = EVERY
    """Seconds."""
    taken: bool = False
    """Has a `PulumiCommand` of this package run it?"""
    operation: Operation | None = None
    """The operation's outcome; `None` until it has run."""


_asking: contextvars.ContextVar[Request | None] = contextvars.ContextVar("maloko-automation-asking", default=None)
"""The first command that is run through this package in here is the one that is asked for."""


def run_through(
    command: CommandRunner,
    arguments: list[str],
    directory: str,
    variables: Mapping[str, str],
    on_output: OnOutput | None,
    on_error: OnOutput | None,
    request: Request,
) -> CommandResult:
    """Has a workspace's command run an operation.

    :raises MalokoError: when a caller's own command has not handed an inline program on
    """
    token = _asking.set(request)
    try:
        result = command.run(arguments, directory, variables, on_output, on_error)
    finally:
        _asking.reset(token)
    if request.program is not None and not request.taken:
        raise MalokoError(
            f"the command that the workspace was given ('{command.command}') cannot run an inline program: it has to "
            "hand its arguments on to `run` of a PulumiCommand of maloko.automation"
        )
    return result


class PulumiCommand(official.PulumiCommand):
    """Runs commands inside this process. There is no executable, so `root`, `version` and the check of versions mean
    nothing; the version is that of the installed SDK, by which programs ask for what a command line can do.
    """

    def __init__(
        self,
        root: str | None = None,
        version: VersionInfo | None = None,
        skip_version_check: bool = False,
    ) -> None:
        self.command = "maloko"
        self.version = version or VersionInfo.parse(sdk_version())

    @classmethod
    def install(
        cls,
        root: str | None = None,
        version: VersionInfo | None = None,
        skip_version_check: bool = False,
    ) -> PulumiCommand:
        """Installs nothing, and says so: the engine is part of the package."""
        LOG.warning("PulumiCommand.install: nothing is to be installed, the engine is part of maloko")
        return cls(root, version, skip_version_check)

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        """Runs a command; an operation runs the program of the directory, in a process of its own.

        :param args: the arguments of the command line, such as `["stack", "ls"]`
        :param cwd: the directory of the project
        :param additional_env: variables beside those of the process, which are not changed
        :param on_output: is called with each line of the output
        :param on_error: is called with each line of the messages
        :raises CommandError: when the command fails
        """
        asked = _asking.get()
        request = Request(None, None, lambda run: None) if asked is None or asked.taken else asked
        request.taken = True
        listeners = Listeners(on_output, on_error, request.on_event, request.on_progress)
        directory, variables, program = absolute(cwd), environment(additional_env), request.program
        verb = next((word for word in args if word in _OPERATIONS or word in _GROUPS), "")
        if program is None and verb in _OPERATIONS:
            finished = run_child(list(args), directory, variables, listeners, request.began, request.progress_every)
        else:
            finished = run_inside(
                list(args), directory, variables, listeners, program, request.began, request.progress_every
            )
        request.operation = finished.operation
        return checked(finished, listeners, inline=program is not None)


def environment(additional: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: those of the process, which stay as they are, and the workspace's over them."""
    return {**os.environ, **additional}


def checked(finished: CommandOutcome, listeners: Listeners, *, inline: bool) -> CommandResult:
    """The result of a command that has succeeded; raises the error of one that has not.

    An exception of one of the caller's own listeners is raised before anything else is said.
    """
    if listeners.raised is not None:
        raise listeners.raised
    if finished.result.code == 0:
        return finished.result
    raise error_of(finished, inline=inline)
