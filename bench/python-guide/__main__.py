"""The guide's program, BENCH_N times: every resource makes a provider object of its own, with three methods."""

import os
from typing import Any

import pulumi
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, Resource, ResourceProvider


class ItemProvider(ResourceProvider):
    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        return CheckResult(news, [])

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        return DiffResult(changes=olds["n"] != news["n"])

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(f"id-{int(props['n'])}", props)


class Item(Resource):
    n: pulumi.Output[int]

    def __init__(self, name: str, n: int, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(ItemProvider(), name, {"n": n}, opts)


for n in range(int(os.environ["BENCH_N"])):
    Item(f"item-{n}", n)
