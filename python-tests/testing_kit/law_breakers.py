"""A provider that keeps all laws, and some that break one. The corpus (test_corpus.py) breaks each."""

import threading
import time
from typing import Any

from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult

from maloko import current_call

Props = dict[str, Any]


class Cloud:
    """A service in memory: objects by id. A create with a known key gives the object that it made before, as it is to
    be now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self.boxes: dict[str, Props] = {}
        self.keys: dict[str, str] = {}
        self.made = 0
        self.calls = 0

    def objects(self) -> dict[str, Props]:
        return self.boxes

    def mutate_remote(self, id_: str) -> None:
        self.boxes[id_]["colour"] = "rust"

    def delete_remote(self, id_: str) -> None:
        del self.boxes[id_]

    def create(self, props: Props, key: str = "") -> str:
        time.sleep(0)  # as a request does, this lets other threads go on
        with self.lock:
            self.calls += 1
            known = self.keys.get(key) if key else None
            if known in self.boxes:
                # The program may have been edited since: lifecycles found that out.
                self.boxes[known] = dict(props)
                return known
            self.made += 1
            id_ = f"box-{self.made}"
            self.boxes[id_] = dict(props)
            if key:
                self.keys[key] = id_
            return id_

    def get(self, id_: str) -> Props | None:
        with self.lock:
            self.calls += 1
            found = self.boxes.get(id_)
            return None if found is None else dict(found)

    def put(self, id_: str, props: Props) -> None:
        with self.lock:
            self.calls += 1
            if id_ not in self.boxes:
                raise KeyError(f"there is no {id_}")
            self.boxes[id_] = dict(props)

    def delete(self, id_: str) -> bool:
        with self.lock:
            self.calls += 1
            return self.boxes.pop(id_, None) is not None


class Good(ResourceProvider):
    """Boxes in the cloud. A box of another material is another box."""

    compared: tuple[str, ...] = ("material", "colour", "label", "password")

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    def check(self, _olds: Props, news: Props) -> CheckResult:
        return CheckResult({**news, "colour": news["colour"].lower()}, [])

    def diff(self, _id: str, olds: Props, news: Props) -> DiffResult:
        changed = [name for name in self.compared if olds.get(name) != news.get(name)]
        return DiffResult(changes=bool(changed), replaces=[name for name in changed if name == "material"])

    def create(self, props: Props) -> CreateResult:
        id_ = self.cloud.create(props, current_call().operation_key)
        return CreateResult(id_, self.outs(id_, props))

    def read(self, id_: str, _props: Props) -> ReadResult:
        found = self.cloud.get(id_)
        return ReadResult("", {}) if found is None else ReadResult(id_, self.outs(id_, found), found)

    def update(self, id_: str, _olds: Props, news: Props) -> UpdateResult:
        self.cloud.put(id_, news)
        return UpdateResult(self.outs(id_, news))

    def delete(self, id_: str, _props: Props) -> None:
        self.cloud.delete(id_)

    def outs(self, id_: str, props: Props) -> Props:
        return {**props, "place": f"shelf/{id_}", "owner": "me"}


class SeesNoLabel(Good):
    compared = ("material", "colour", "password")


class DeletesOnce(Good):
    def delete(self, id_: str, _props: Props) -> None:
        if not self.cloud.delete(id_):
            raise KeyError(f"there is no {id_}")


class MakesTwo(Good):
    def create(self, props: Props) -> CreateResult:
        id_ = self.cloud.create(props)
        return CreateResult(id_, self.outs(id_, props))


class NewVersion(Good):
    """This release has an output more than the last, and takes its absence for a change."""

    def outs(self, id_: str, props: Props) -> Props:
        return {**super().outs(id_, props), "version": 2}

    def diff(self, id_: str, olds: Props, news: Props) -> DiffResult:
        found = super().diff(id_, olds, news)
        old = olds.get("version") != 2
        return DiffResult(changes=found.changes or old, replaces=[*(found.replaces or []), *["version"] * old])


EXAMPLES: list[Props] = [
    {"material": "wood", "colour": "Blue", "label": "one", "password": "open-sesame"},
    {"material": "wood", "colour": "blue", "label": "two", "password": "open-sesame"},
    {"material": "steel", "colour": "red", "label": "two", "password": "open-sesame"},
]

BASELINE = [{"id": "box-1", "inputs": EXAMPLES[1], "outputs": {**EXAMPLES[1], "place": "shelf/box-1", "owner": "me"}}]
"""What the last release has left."""
