"""A provider plugin under the laws and in lifecycles, as a test names it."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._values import Secret, plain_of, text_of

if TYPE_CHECKING:
    from maloko._maloko import PluginUnderTest

METHODS = ("check", "diff", "create", "read", "update", "delete")
"""What the protocol of plugins has. Whether a plugin knows a method is found out by calling it."""


class PluginFailed(Exception):  # noqa: N818 it is what the plugin did
    """A call of a plugin failed; the message is the plugin's own."""

    __module__ = "maloko.testing"


class Plugin:
    """A provider plugin, in the place of a provider: of a class of `ProviderLaws`, or of lifecycles.

    Its process is started when it is needed first, and ends with `close()` or with the process of the tests.
    """

    __module__ = "maloko.testing"

    def __init__(
        self,
        type: str,  # noqa: A002 the word of Pulumi's for it
        *,
        path: str | os.PathLike[str] = "",
        version: str = "",
        plugin: str = "",
        parameters: Sequence[str] = (),
    ) -> None:
        """
        :param type: the type token of the resource, such as `random:index/randomPet:RandomPet`.
        :param path: the plugin's executable or folder; without it, the plugin of the type's package is looked for as
            for a program.
        :param version: the version of the package; with `parameters`, of the plugin.
        :param plugin: with `parameters` and without `path`: the name of the plugin, such as `terraform-provider`.
        :param parameters: what the plugin makes the package of: `["hashicorp/random", "3.6.0"]`.
        :raises MalokoError: when `parameters` is no list of texts.
        """
        if isinstance(parameters, str):
            raise MalokoError(f"parameters={parameters!r} is no list; give parameters={parameters.split()!r}")
        if not all(isinstance(parameter, str) for parameter in parameters):
            raise MalokoError(f"parameters={parameters!r} is no list of texts; write each between quotes")
        self.type = type
        self.path = str(Path(path).absolute()) if path else ""
        self.version = version
        self.plugin = plugin
        self.parameters = list(parameters)
        self._started: dict[str, PluginUnderTest] = {}

    def __repr__(self) -> str:
        more = "".join(
            f", {name}={getattr(self, name)!r}"
            for name in ("path", "version", "plugin", "parameters")
            if getattr(self, name)
        )
        return f"Plugin({self.type!r}{more})"

    def close(self) -> None:
        """Ends its processes."""
        started, self._started = self._started, {}
        for plugin in started.values():
            plugin.close()
        atexit.unregister(self.close)

    def _with(self, config: Mapping[str, Any]) -> PluginUnderTest:
        """The plugin with this configuration, started. Raises `MalokoError` when that fails."""
        from maloko._maloko import PluginUnderTest

        values = {key: {"value": text_of(plain_of(it)), "secret": isinstance(it, Secret)} for key, it in config.items()}
        whole = {"type": self.type, "version": self.version, "parameters": self.parameters, "config": values}
        setup = json.dumps(whole, sort_keys=True)
        if setup not in self._started:
            try:
                plugin = PluginUnderTest(Path.cwd(), self.path or self.plugin, setup)
                plugin.prepare()
            except (ValueError, RuntimeError) as error:
                raise MalokoError(str(error)) from None
            if not self._started:
                # Threads that a run starts are gone when the interpreter is.
                atexit.register(self.close)
            self._started[setup] = plugin
        return self._started[setup]
