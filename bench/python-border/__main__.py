"""BENCH_N resources of one provider, which has `create` and those of `check` and `diff` that BENCH_METHODS names."""

import os
from typing import Any

from pulumi.dynamic import CheckResult, CreateResult, DiffResult, Resource, ResourceProvider

named = os.environ["BENCH_METHODS"].split(",")


class Provider(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(f"id-{int(props['n'])}", props)

    if "check" in named:

        def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
            return CheckResult(news, [])

    if "diff" in named:

        def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> DiffResult:
            return DiffResult(changes=False)


class Item(Resource):
    pass


provider = Provider()
for n in range(int(os.environ["BENCH_N"])):
    Item(provider, f"item-{n}", {"n": n})
