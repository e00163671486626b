"""The engine in the place of the `pulumi` executable that the official API starts for everything."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from pulumi import automation as official
from pulumi.automation import CommandResult, OnOutput
from semver import VersionInfo

from maloko._sdk import sdk_version
from maloko.automation._child import run_child
from maloko.automation._finished import Finished
from maloko.automation._inside import absolute, run_inside
from maloko.automation._listeners import Listeners
from maloko.automation.errors import error_of

_OPERATIONS = frozenset(
    ("up", "update", "preview", "pre", "refresh", "destroy", "down", "dn", "import", "watch"),
)
_GROUPS = frozenset(("stack", "config", "cfg", "state"))
"""Commands whose own commands may have the name of an operation: `stack import`."""

LOG = logging.getLogger("maloko.automation")


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
        listeners = Listeners(on_output, on_error)
        if next((word for word in args if word in _OPERATIONS or word in _GROUPS), "") in _OPERATIONS:
            finished = run_child(list(args), absolute(cwd), environment(additional_env), listeners)
            return checked(finished, listeners, inline=False)
        finished = run_inside(list(args), absolute(cwd), environment(additional_env), listeners)
        return checked(finished, listeners, inline=True)


def environment(additional: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: those of the process, which stay as they are, and the workspace's over them."""
    return {**os.environ, **additional}


def checked(finished: Finished, listeners: Listeners, *, inline: bool) -> CommandResult:
    """The result of a command that has succeeded; raises the error of one that has not.

    An exception of one of the caller's own listeners is raised before anything else is said.
    """
    if listeners.raised is not None:
        raise listeners.raised
    if finished.result.code == 0:
        return finished.result
    raise error_of(finished.result, finished.operation, inline=inline)
