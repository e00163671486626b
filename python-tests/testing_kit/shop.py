"""A provider that keeps its objects in this process: what the tests of the kit deploy."""

from typing import Any, ClassVar

from pulumi.dynamic import CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult

import maloko


class Shop(ResourceProvider):
    """Makes one object for each operation key."""

    objects: ClassVar[dict[str, dict[str, Any]]] = {}

    def create(self, props: dict[str, Any]) -> CreateResult:
        key = maloko.current_call().operation_key
        self.objects[key] = dict(props)
        return CreateResult(key, dict(props))

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        return DiffResult(changes=olds != news)

    def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        self.objects[id_] = dict(news)
        return UpdateResult(dict(news))

    def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
        found = self.objects.get(id_)
        return ReadResult("", {}) if found is None else ReadResult(id_, dict(found))

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        self.objects.pop(id_, None)
