"""A provider in a submodule, as a library ships one."""

from typing import Any

from pulumi.dynamic import CreateResult, ResourceProvider

deleted: list[tuple[str, str]] = []


class Shipped(ResourceProvider):
    """Plain data only: it can be found again and rebuilt."""

    built = 0

    def __init__(self, label: str) -> None:
        type(self).built += 1
        self.label = label

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(f"{self.label}-1", dict(props))

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        deleted.append((self.label, id_))


class Restored(ResourceProvider):
    """Rebuilds its client in `__setstate__`."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.client = object()

    def __getstate__(self) -> dict[str, Any]:
        return {"label": self.label}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.label = state["label"]
        self.client = object()

    def create(self, _props: dict[str, Any]) -> CreateResult:
        return CreateResult("made", {})

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        assert self.client is not None
        deleted.append((self.label, id_))
