"""What the examples of the documents are about: buckets in a cloud in memory, and their provider."""

import itertools
from typing import Any, ClassVar

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

from maloko import current_call


class FakeCloud:
    """A cloud in memory."""

    def __init__(self) -> None:
        self.buckets: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        self.numbers = itertools.count(1)

    def objects(self) -> dict[str, dict[str, Any]]:
        return self.buckets


class BucketProvider(ResourceProvider):
    """Buckets: another name or another access list needs another bucket."""

    clouds: ClassVar[list[FakeCloud]] = [FakeCloud()]

    def __init__(self, cloud: FakeCloud | None = None) -> None:
        super().__init__()
        self.cloud = cloud or self.clouds[0]

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        changed = [key for key in news if olds.get(key) != news[key]]
        return DiffResult(changes=bool(changed), replaces=changed)

    def create(self, props: dict[str, Any]) -> CreateResult:
        id_ = f"bucket-{next(self.cloud.numbers)}"
        self.cloud.buckets[id_] = dict(props)
        self.cloud.keys[current_call().operation_key] = id_
        return CreateResult(id_, dict(props))

    def find(self, key: str, props: dict[str, Any]) -> ReadResult | None:
        return self.read(self.cloud.keys[key], props) if key in self.cloud.keys else None

    def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
        bucket = self.cloud.buckets.get(id_)
        return ReadResult("", {}) if bucket is None else ReadResult(id_, dict(bucket), dict(bucket))

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(dict(news))

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        self.cloud.buckets.pop(id_, None)


class Bucket(Resource):
    """A bucket with an access list."""

    acl: pulumi.Output[str]

    def __init__(self, name: str, acl: str) -> None:
        super().__init__(BucketProvider(), name, {"acl": acl})
