"""Provider classes and helpers that many tests use."""

from typing import Any, ClassVar

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

ONLY_THE_KIT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "maloko.testing.plugin"}
"""Variables of a test run of a test: to load all plugins that are installed takes longer than its tests."""


class Thing(Resource):
    """A resource whose provider is given; its inputs are its outputs."""

    def __init__(
        self, provider: Any, name: str, props: dict[str, Any] | None = None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(provider, name, dict(props or {}), opts)


class Recording(ResourceProvider):
    """Notes each call in a list that is no part of the object (which stays plain data)."""

    calls: ClassVar[list[tuple[str, Any]]] = []

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.calls.append(("create", props))
        return CreateResult("made", dict(props))

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        self.calls.append(("diff", (olds, news)))
        return DiffResult(changes=olds != news)

    def update(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        self.calls.append(("update", (olds, news)))
        return UpdateResult(dict(news))

    def delete(self, id_: str, props: dict[str, Any]) -> None:
        self.calls.append(("delete", (id_, props)))


class Echo(ResourceProvider):
    """Makes what it is told, and keeps nothing."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("made", dict(props))


def creating(outs: Any, id_: Any = "made") -> ResourceProvider:
    """A provider whose `create` returns exactly that."""

    class Creating(ResourceProvider):
        def create(self, _props: dict[str, Any]) -> CreateResult:
            return CreateResult(id_, outs)

    return Creating()


def nothing() -> None:
    """A program without resources."""
