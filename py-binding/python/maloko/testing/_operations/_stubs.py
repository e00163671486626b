"""What a test says of resources and functions of packages, by token, and whether their plugins really run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError

if TYPE_CHECKING:
    from maloko._run.host import Host
    from maloko.testing._operations._owner import Owner

COMPUTED_ID = "maloko:computed-id"
"""Has the stub make an id; `engine-kit/src/stubs/mod.rs` has it as well."""
METHODS = ("check", "diff", "create", "read", "update", "delete")
PLUGINS = ("stubs", "real")


class PackageStubs:
    """The stubs of a stack, checked."""

    def __init__(
        self, stubs: Mapping[str, Any] | None, plugins: str, schemas: Iterable[str | Path] | None, kit: Owner
    ) -> None:
        """Raises `MalokoError` for what makes no sense. Schemas are files and folders, relative to the test's file;
        `None` stands for those of the kit."""
        if plugins not in PLUGINS:
            raise MalokoError(f'plugins={plugins!r} is no choice; give "stubs" (the default) or "real"')
        self.real = plugins == "real"
        if stubs and self.real:
            raise MalokoError('stubs= says nothing where plugins="real" runs them; leave one of the two out')
        if schemas and self.real:
            raise MalokoError('schemas= says nothing where plugins="real" runs them; leave one of the two out')
        if isinstance(schemas, (str, Path)):
            raise MalokoError(f"schemas={str(schemas)!r} is no list; give schemas=[{str(schemas)!r}]")
        self._stubs = {token: _stub(token, given) for token, given in (stubs or {}).items()}
        places = kit.schemas if schemas is None else [kit.directory / place for place in schemas]
        self._schemas = [str(place.absolute()) for place in places]

    def order(self, host: Host) -> dict[str, Any]:
        """As an order has it, for a run with this host."""
        stubs = {
            token: {"object": host.registry.number(stub), "methods": stub.methods}
            for token, stub in self._stubs.items()
        }
        return {"stubs": stubs, "schemas": self._schemas, "plugins": str(Path.cwd()) if self.real else None}


def _stub(token: str, given: Any) -> _Stub:
    if not isinstance(token, str) or token.count(":") < 2:
        raise MalokoError(
            f"stubs= names {token!r}, which is no token; the token of a type or function is like "
            "'random:index/randomPet:RandomPet'"
        )
    methods = [name for name in METHODS if _has(given, name)]
    if inspect.isclass(given) or not (methods or callable(given)):
        raise MalokoError(
            f"the stub of '{token}' is {given!r}; give a function of the inputs that returns outputs, or an object "
            f"with some of the methods {', '.join(METHODS)}"
        )
    return _Stub(token, given, methods)


def _has(given: Any, name: str) -> bool:
    from pulumi.dynamic import ResourceProvider

    own = getattr(type(given), name, None)
    inherited = getattr(ResourceProvider, name, None) if isinstance(given, ResourceProvider) else None
    return callable(getattr(given, name, None)) and (own is None or own is not inherited)


class _Stub:
    """A provider object that asks what the test gave. What it returns is put into the words of a provider."""

    def __init__(self, token: str, given: Any, methods: list[str]) -> None:
        self._token = token
        self._given = given
        self.methods = methods or ["create", "update"]
        self._by_function = not methods

    def create(self, props: dict[str, Any]) -> Any:
        """Asks the function, or `create`."""
        from pulumi.dynamic import CreateResult

        def made(result: Any) -> Any:
            if isinstance(result, CreateResult):
                return result
            return CreateResult(COMPUTED_ID, self._outputs("create", result))

        return _then(self._given(props) if self._by_function else self._given.create(props), made)

    def update(self, id_: str, olds: dict[str, Any], news: dict[str, Any]) -> Any:
        """Asks the function, or `update`."""
        from pulumi.dynamic import CreateResult, UpdateResult

        def made(result: Any) -> Any:
            if isinstance(result, UpdateResult):
                return result
            outputs = result.outs if isinstance(result, CreateResult) else self._outputs("update", result)
            return UpdateResult(outputs)

        return _then(self._given(news) if self._by_function else self._given.update(id_, olds, news), made)

    def read(self, id_: str, props: dict[str, Any]) -> Any:
        """Asks `read`."""
        from pulumi.dynamic import ReadResult

        def made(result: Any) -> Any:
            if isinstance(result, ReadResult):
                return result
            return ReadResult("", {}) if result is None else ReadResult(id_, self._outputs("read", result))

        return _then(self._given.read(id_, props), made)

    def check(self, olds: dict[str, Any], news: dict[str, Any]) -> Any:
        """Asks `check`."""
        from pulumi.dynamic import CheckResult

        def made(result: Any) -> Any:
            if isinstance(result, CheckResult):
                return result
            return CheckResult({**news, **self._outputs("check", result)}, [])

        return _then(self._given.check(olds, news), made)

    def diff(self, id_: str, olds: dict[str, Any], news: dict[str, Any]) -> Any:
        """Asks `diff`."""
        from pulumi.dynamic import DiffResult

        def made(result: Any) -> Any:
            return DiffResult(changes=result) if result is None or isinstance(result, bool) else result

        return _then(self._given.diff(id_, olds, news), made)

    def delete(self, id_: str, props: dict[str, Any]) -> Any:
        """Asks `delete`."""
        return self._given.delete(id_, props)

    def _outputs(self, method: str, result: Any) -> dict[str, Any]:
        if result is None:
            return {}
        if isinstance(result, Mapping):
            return dict(result)
        what = "the stub" if self._by_function else f"`{method}` of the stub"
        raise MalokoError(f"{what} of '{self._token}' returned {result!r}; return a dict, or nothing")


def _then(result: Any, made: Callable[[Any], Any]) -> Any:
    """What is made of a result, now or when it has come."""
    if not inspect.isawaitable(result):
        return made(result)

    async def wait() -> Any:
        return made(await result)

    return wait()
