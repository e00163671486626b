"""BENCH_N resources of a provider that only echoes: what remains is the cost of the engine and the SDK."""

import os

from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Trivial(ResourceProvider):
    def create(self, props):
        return CreateResult(f"id-{int(props['n'])}", props)


class Item(Resource):
    pass


provider = Trivial()
for n in range(int(os.environ["BENCH_N"])):
    Item(provider, f"item-{n}", {"n": n})
