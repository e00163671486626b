"""A provider that keeps all laws, and for each law one that breaks it and no other."""

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable
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


class ChangesItsArgument(Good):
    def check(self, _olds: Props, news: Props) -> CheckResult:
        news["colour"] = news["colour"].lower()
        return CheckResult(news, [])


class NeverReady(Good):
    """A new box is unfinished to it until somebody updates it."""

    def create(self, props: Props) -> CreateResult:
        made = super().create(props)
        return CreateResult(made.id, {**made.outs, "status": "pending"})

    def diff(self, id_: str, olds: Props, news: Props) -> DiffResult:
        found = super().diff(id_, olds, news)
        return DiffResult(changes=found.changes or olds.get("status") == "pending", replaces=found.replaces)


class ReadsHalf(Good):
    def read(self, id_: str, props: Props) -> ReadResult:
        found = super().read(id_, props)
        return ReadResult(found.id, {key: it for key, it in found.outs.items() if key != "place"}, found.inputs)


class SeesNoLabel(Good):
    compared = ("material", "colour", "password")


class ForgetsTheOwner(Good):
    """An update takes the owner from the box; create gives it one."""

    def read(self, id_: str, props: Props) -> ReadResult:
        found = super().read(id_, props)
        if found.id in self.updated:
            return ReadResult(found.id, {**found.outs, "owner": None}, found.inputs)
        return found

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.updated: set[str] = set()

    def update(self, id_: str, olds: Props, news: Props) -> UpdateResult:
        self.updated.add(id_)
        return UpdateResult({**super().update(id_, olds, news).outs, "owner": None})


class SameIdAgain(Good):
    """The id is made of the label, and a box of another material is another box."""

    def create(self, props: Props) -> CreateResult:
        id_ = f"box-{props['label']}"
        self.cloud.boxes[id_] = dict(props)
        return CreateResult(id_, self.outs(id_, props))


class NeedsRoom(Good):
    """The service takes each label once; a replacement keeps it, and is made first."""

    def create(self, props: Props) -> CreateResult:
        key = current_call().operation_key
        taken = [it for it in self.cloud.boxes.values() if it["label"] == props["label"]]
        if taken and key not in self.cloud.keys:
            raise ValueError(f"the label {props['label']} is taken")
        return super().create(props)


class DeletesOnce(Good):
    def delete(self, id_: str, _props: Props) -> None:
        if not self.cloud.delete(id_):
            raise KeyError(f"there is no {id_}")


class ReadsWhatItKnows(Good):
    def read(self, id_: str, props: Props) -> ReadResult:
        return super().read(props["place"].removeprefix("shelf/"), props)


class AsksTheNetwork(Good):
    def diff(self, id_: str, olds: Props, news: Props) -> DiffResult:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 49151), 1):
            pass
        return super().diff(id_, olds, news)


class Remembers(Good):
    """What it has read once it does not ask for again."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.known: dict[str, Props] = {}

    def create(self, props: Props) -> CreateResult:
        made = super().create(props)
        self.known[made.id] = dict(props)
        return made

    def update(self, id_: str, olds: Props, news: Props) -> UpdateResult:
        self.known[id_] = dict(news)
        return super().update(id_, olds, news)

    def read(self, id_: str, props: Props) -> ReadResult:
        found = super().read(id_, props)
        known = self.known.get(id_)
        return found if known is None or not found.id else ReadResult(id_, self.outs(id_, known), dict(known))


class TellsThePassword(Good):
    def outs(self, id_: str, props: Props) -> Props:
        return {**super().outs(id_, props), "address": f"box://{props['password']}@shelf"}


class MakesTwo(Good):
    def create(self, props: Props) -> CreateResult:
        id_ = self.cloud.create(props)
        return CreateResult(id_, self.outs(id_, props))


class NeverGivesUp(Good):
    """Takes the end of its call for a failure, and tries again. (The test lets it go when it has seen that.)"""

    let_go = threading.Event()

    def create(self, props: Props) -> CreateResult:
        for _ in range(50):
            if not current_call().cancelled.is_set():
                break
            self.let_go.wait(1)
        return super().create(props)


class CountsTooFar(Good):
    def outs(self, id_: str, props: Props) -> Props:
        return {**super().outs(id_, props), "serial": 2**63 + 1}


class NewVersion(Good):
    """This release has an output more than the last, and takes its absence for a change."""

    def outs(self, id_: str, props: Props) -> Props:
        return {**super().outs(id_, props), "version": 2}

    def diff(self, id_: str, olds: Props, news: Props) -> DiffResult:
        found = super().diff(id_, olds, news)
        old = olds.get("version") != 2
        return DiffResult(changes=found.changes or old, replaces=[*(found.replaces or []), *["version"] * old])


class SharesItsRequest(Good):
    def create(self, props: Props) -> CreateResult:
        self.request = props
        # A request takes its time: as much as others need to begin theirs. While creates are made at once, the law has
        # threads take turns more often than Python does; they come, however busy the machine is.
        end = time.monotonic() + (5 if sys.getswitchinterval() < 1e-3 else 0)
        while self.request is props and time.monotonic() < end:
            time.sleep(0.001)
        id_ = self.cloud.create(props, current_call().operation_key)
        return CreateResult(id_, self.outs(id_, self.request))


BREAKERS: dict[str, Callable[[Cloud], ResourceProvider]] = {
    f"L{number}": breaker
    for number, breaker in enumerate(
        (
            ChangesItsArgument,
            NeverReady,
            ReadsHalf,
            SeesNoLabel,
            ForgetsTheOwner,
            SameIdAgain,
            NeedsRoom,
            DeletesOnce,
            ReadsWhatItKnows,
            AsksTheNetwork,
            Remembers,
            TellsThePassword,
            MakesTwo,
            NeverGivesUp,
            CountsTooFar,
            NewVersion,
            SharesItsRequest,
        ),
        1,
    )
}

EXAMPLES: list[Props] = [
    {"material": "wood", "colour": "Blue", "label": "one", "password": "open-sesame"},
    {"material": "wood", "colour": "blue", "label": "two", "password": "open-sesame"},
    {"material": "steel", "colour": "red", "label": "two", "password": "open-sesame"},
]

BASELINE = [{"id": "box-1", "inputs": EXAMPLES[1], "outputs": {**EXAMPLES[1], "place": "shelf/box-1", "owner": "me"}}]
"""What the last release has left."""
