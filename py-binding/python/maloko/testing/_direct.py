"""A provider without an engine, called as the engine would call it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from maloko._errors import MalokoError
from maloko._providers.calls import READERS, BadReturnError
from maloko._providers.configured import Claims, taken_of
from maloko._providers.methods import has_method
from maloko.testing._operations._runs import on_a_free_thread
from maloko.testing._values import plain_of, text_of


class BadReturn(MalokoError):  # noqa: N818 it is what the method did
    """A provider method returned what the engine would refuse."""


@dataclass(frozen=True)
class CreateResult:
    """What `create` returned."""

    id: str
    """The object's id."""
    outs: dict[str, Any]
    """The outputs, as a state keeps them."""


@dataclass(frozen=True)
class ReadResult:
    """What `read` or `find` returned."""

    id: str
    """The object's id; empty when it is gone."""
    outs: dict[str, Any] | None
    """The outputs; `None` when none were returned."""
    inputs: dict[str, Any] | None
    """The inputs; `None` when none were returned."""


@dataclass(frozen=True)
class CheckResult:
    """What `check` returned."""

    inputs: dict[str, Any]
    """The inputs to go on with."""
    failures: list[tuple[str, str]]
    """Property and reason of each refusal."""


@dataclass(frozen=True)
class DiffResult:
    """What `diff` returned."""

    changes: bool | None
    """Is there a change? `None`: the engine compares itself."""
    replaces: list[str]
    """Properties whose change needs a replacement."""
    stables: list[str]
    """Outputs that an update leaves alone."""
    delete_before_replace: bool | None
    """Must the old object go first? `None`: not said."""


class Direct:
    """The methods of a provider, sync or async. Arguments are copies in the types that the engine hands over; a result
    that the engine would refuse raises `BadReturn`; what a method raises comes through as it is.

    What `configure` sets is for these calls only, as in a run. Where runs configure the object for themselves in
    between, it is configured again before the next call."""

    def __init__(self, provider: Any, *, config: Mapping[str, Any] | None = None, project: str = "project") -> None:
        self.provider: Any = provider() if inspect.isclass(provider) else provider
        """The provider object."""
        self._config, self._project = dict(config or {}), project
        self._claims = Claims(self.close if has_method(self.provider, "close") else None)
        self._under_way = 0
        self._lock = threading.RLock()
        if config is not None or has_method(self.provider, "configure"):
            self.configure()

    def configure(self) -> None:
        """Calls `configure`, if there is one, with the stack's configuration."""
        if not has_method(self.provider, "configure"):
            return
        from pulumi.dynamic import Config, ConfigureRequest

        values = {
            key if ":" in key else f"{self._project}:{key}": text_of(plain_of(it)) for key, it in self._config.items()
        }
        self._made(
            lambda provider: provider.configure(ConfigureRequest(Config(values, self._project))), "configure", values
        )

    def close(self) -> None:
        """Calls `close`, if there is one and `configure` was called. Another call configures the object again."""
        if not has_method(self.provider, "configure") or not self._claims.is_configured(0):
            return
        try:
            if has_method(self.provider, "close"):
                self._made(lambda provider: provider.close(), "close", None)
        finally:
            self._claims.release()

    def __enter__(self) -> Direct:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def check(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> CheckResult:
        """Calls `check`; without one the inputs stay as they are."""
        if not has_method(self.provider, "check"):
            return CheckResult(_bag(news, "inputs"), [])
        it = self._call("check", _bag(olds, "olds"), _bag(news, "news"))
        return CheckResult(_bag(it.inputs or {}, "inputs"), [(failure.name, failure.reason) for failure in it.failures])

    def diff(self, id_: str, olds: Mapping[str, Any], news: Mapping[str, Any]) -> DiffResult:
        """Calls `diff`; without one the engine compares itself."""
        if not has_method(self.provider, "diff"):
            return DiffResult(None, [], [], None)
        it = self._call("diff", id_, _bag(olds, "olds"), _bag(news, "news"))
        return DiffResult(it.changes, it.replaces, it.stables, it.delete_before_replace)

    def create(self, inputs: Mapping[str, Any]) -> CreateResult:
        """Calls `create`."""
        it = self._call("create", _bag(inputs, "inputs"))
        return CreateResult(it.id, _bag(it.outs or {}, "outs"))

    def read(self, id_: str, props: Mapping[str, Any] | None = None) -> ReadResult:
        """Calls `read`; without one what is stored counts as what is there."""
        if not has_method(self.provider, "read"):
            return ReadResult(id_, _bag(props or {}, "props"), None)
        return self._looked("read", id_, _bag(props or {}, "props"))

    def find(self, key: str, inputs: Mapping[str, Any]) -> ReadResult:
        """Calls `find`."""
        return self._looked("find", key, _bag(inputs, "inputs"))

    def update(self, id_: str, olds: Mapping[str, Any], news: Mapping[str, Any]) -> dict[str, Any]:
        """Calls `update` and gives the outputs; without one they are the new inputs."""
        if not has_method(self.provider, "update"):
            return _bag(news, "news")
        return _bag(self._call("update", id_, _bag(olds, "olds"), _bag(news, "news")).outs or {}, "outs")

    def delete(self, id_: str, props: Mapping[str, Any] | None = None) -> None:
        """Calls `delete`, if there is one."""
        if has_method(self.provider, "delete"):
            self._call("delete", id_, _bag(props or {}, "props"))

    def _looked(self, method: str, *arguments: Any) -> ReadResult:
        it = self._call(method, *arguments)
        return ReadResult(
            it.id,
            None if it.outs is None else _bag(it.outs, "outs"),
            None if it.inputs is None else _bag(it.inputs, "inputs"),
        )

    def _call(self, method: str, *arguments: Any) -> Any:
        if getattr(self.provider, method, None) is None:
            raise MalokoError(f"the provider {type(self.provider).__qualname__} has no method '{method}'")
        result = self._made(lambda provider: getattr(provider, method)(*arguments), method, None)
        try:
            return READERS[method](result)
        except BadReturnError as error:
            raise BadReturn(str(error)) from None

    def _made(self, call: Callable[[Any], Any], method: str, config: Mapping[str, Any] | None) -> Any:
        """Makes a call, of the object that is configured for these calls."""
        if not has_method(self.provider, "configure"):
            return _called(call, self.provider)
        # Calls may be made on several threads: one of them configures, and the object is free when none goes on.
        with self._lock:
            self._under_way += 1
            self._claims.evict(self.provider)
            self._claims.resume(0)
            if method != "configure" and not self._claims.is_configured(0):
                self.configure()
            taken = taken_of(self.provider)
            provider, ended = self._claims.begin(0, self.provider, taken, method, config, lambda: None)
        try:
            return _called(call, provider)
        finally:
            ended()
            with self._lock:
                self._under_way -= 1
                if self._under_way == 0:
                    self._claims.pause()


def _called(function: Any, *arguments: Any) -> Any:
    result = function(*arguments)
    if not inspect.isawaitable(result):
        return result

    async def awaited() -> Any:
        return await result

    return on_a_free_thread(lambda: asyncio.run(awaited()))


def _bag(values: Mapping[str, Any] | Any, what: str) -> dict[str, Any]:
    """Properties as they come out of the engine when they go in like that."""
    from maloko._maloko import converted

    try:
        bag: dict[str, Any] = converted(values, what)
    except ValueError as error:
        raise BadReturn(f"{what} cannot be kept: {error}") from None
    return bag
