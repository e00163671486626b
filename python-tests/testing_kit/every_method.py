"""A provider with every method, each with a line of its own that does something."""

from typing import Any

from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    ConfigureRequest,
    CreateResult,
    DiffResult,
    ReadResult,
    ResourceProvider,
    UpdateResult,
)

Props = dict[str, Any]


class EveryMethod(ResourceProvider):
    ready = False

    def configure(self, _req: ConfigureRequest) -> None:
        self.ready = True

    def check(self, _olds: Props, news: Props) -> CheckResult:
        failures: list[CheckFailure] = []
        if news["size"] < 0:
            failures.append(CheckFailure("size", "it is less than nothing"))
        return CheckResult(news, failures)

    def diff(self, _id: str, olds: Props, news: Props) -> DiffResult:
        changes = olds["size"] != news["size"]
        return DiffResult(changes=changes)

    def create(self, props: Props) -> CreateResult:
        outs = dict(props)
        return CreateResult("made", outs)

    def read(self, id_: str, props: Props) -> ReadResult:
        outs = dict(props)
        return ReadResult(id_, outs)

    def update(self, _id: str, _olds: Props, news: Props) -> UpdateResult:
        outs = dict(news)
        return UpdateResult(outs)

    def delete(self, _id: str, _props: Props) -> None:
        self.ready = False
