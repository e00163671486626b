"""BENCH_N resources as the guide writes them: a provider object for each, with `check`, `diff` and `create`."""

import os

import pulumi
from pulumi.dynamic import CheckFailure, CheckResult, CreateResult, DiffResult, Resource, ResourceProvider


class LabelProvider(ResourceProvider):
    def check(self, _olds, news):
        failures = [] if news.get("n") is not None else [CheckFailure("n", "a number is required")]
        return CheckResult(news, failures)

    def diff(self, _id, olds, news):
        return DiffResult(changes=olds["n"] != news["n"], replaces=[])

    def create(self, props):
        return CreateResult(f"id-{int(props['n'])}", props)


class Label(Resource):
    n: pulumi.Output[int]

    def __init__(self, name, n, opts=None):
        super().__init__(LabelProvider(), name, {"n": n}, opts)


for n in range(int(os.environ["BENCH_N"])):
    Label(f"item-{n}", n)
