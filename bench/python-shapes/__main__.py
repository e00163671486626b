"""Programs of a shape that costs more than resources side by side: BENCH_SHAPE names it, BENCH_ROUND is 1, then 2."""

import os
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

ROUND = int(os.environ["BENCH_ROUND"])


class Echo(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(f"id-{int(props['n'])}-{props.get('version', '')}", props)

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        replaces = ["version"] if olds.get("version") != news.get("version") else []
        return DiffResult(changes=olds != news, replaces=replaces)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(news)


class Item(Resource):
    n: pulumi.Output[int]

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(PROVIDER, name, props, opts)


PROVIDER = Echo()


def chain() -> None:
    """1,000 resources, each of which needs an output of the one before."""
    last = Item("item-0", {"n": 0})
    for n in range(1, 1000):
        last = Item(f"item-{n}", {"n": n, "after": last.n})


def replacements() -> None:
    """1,000 resources with five dependents each; the second round replaces the thousand."""
    for n in range(1000):
        root = Item(f"root-{n}", {"n": n, "version": f"v{ROUND}"})
        for leaf in range(5):
            Item(f"leaf-{n}-{leaf}", {"n": leaf, "root": root.id})


def tree() -> None:
    """Components 500 deep, with a resource in each."""
    parent: pulumi.Resource | None = None
    for depth in range(500):
        parent = pulumi.ComponentResource(
            "bench:index:Level", f"level-{depth}", {}, pulumi.ResourceOptions(parent=parent)
        )
        Item(f"item-{depth}", {"n": depth}, pulumi.ResourceOptions(parent=parent))


def few() -> None:
    """10,000 resources, ten of which the second round changes."""
    for n in range(10_000):
        Item(f"item-{n}", {"n": n, "text": f"round {ROUND}" if n % 1000 == 0 else "the same"})


{"chain": chain, "replacements": replacements, "tree": tree, "few": few}[os.environ["BENCH_SHAPE"]]()
