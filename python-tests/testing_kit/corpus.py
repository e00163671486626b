"""The corpus of providers (`engine-kit/corpus`), and the provider that behaves as its cases say.."""

import copy
import itertools
import json
import threading
from pathlib import Path
from typing import Any

from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult

from maloko import current_call

Props = dict[str, Any]

CASES: list[Props] = [
    case
    for file in sorted((Path(__file__).parents[2] / "engine-kit" / "corpus").glob("*.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))
]

INPUTS: list[Props] = [{"name": "box", "color": "red", "size": 1}, {"name": "box", "color": "blue", "size": 1}]
"""Those of a case that gives none."""
PREVIOUS = [{"id": "box-1", "inputs": INPUTS[0], "outputs": {**INPUTS[0], "url": "shop/box-1"}}]
"""What an earlier release left in a state."""

ODD: dict[str, Any] = {
    "not a number": float("nan"),
    "infinity": float("inf"),
    "half a surrogate pair": "\ud800",
}


class Error(Exception):
    """What a provider raises."""


class Shop:
    """The service: boxes by id. A create with a known key gives the box that it made before."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.boxes: dict[str, Props] = {}
        self.keys: dict[str, str] = {}
        self.made = 0
        self.calls = 0

    def __repr__(self) -> str:
        return f"Shop with {self.boxes}"

    def objects(self) -> dict[str, Props]:
        return self.boxes

    def mutate_remote(self, id_: str) -> None:
        self.boxes[id_]["color"] = "rust"

    def delete_remote(self, id_: str) -> None:
        self.boxes.pop(id_, None)


class Box(ResourceProvider):
    """Does what a good provider of boxes does, but for what its case says of each method."""

    case: Props
    let_go = threading.Event()
    """Set when the calls that wait are to end."""
    creates = itertools.count()
    """Counts on from world to world."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.last: Props = {}
        self.requests: list[Props] = []
        self.more = threading.Condition()

    def __repr__(self) -> str:
        return self.filled(self.case.get("shows", "Box"), {**self.last, "shop": self.shop})

    def how(self, method: str) -> Props:
        found: Props = self.case["provider"].get(method) or {}
        return found

    def filled(self, text: Any, props: Props, id_: str = "") -> Any:
        if not isinstance(text, str):
            return text
        for key, value in {**props, "id": id_, "calls": self.shop.calls}.items():
            text = text.replace("{" + key + "}", str(value))
        return text

    def begin(self, method: str, props: Props, when: set[str]) -> None:
        """What comes first in every method: a request, a message, an error."""
        how = self.how(method)
        self.shop.calls += method not in ("check", "diff") or bool(how.get("asks"))
        if "prints" in how:
            print(self.filled(how["prints"], props))
        if how.get("waits"):
            self.let_go.wait(10)
        wrong = how.get("raises")
        if wrong is not None and wrong["when"] in when | {"always"}:
            raise Error(self.filled(wrong["text"], props))

    def answer(self, method: str, props: Props, olds: Props | None = None, id_: str = "") -> Props:
        """The properties that a method returns."""
        how = self.how(method)
        found = {key: value for key, value in props.items() if key not in how.get("drops", ())}
        found |= {key: value for key, value in (olds or {}).items() if key in how.get("keeps", ())}
        found |= {key: self.filled(value, props, id_) for key, value in how.get("sets", {}).items()}
        found |= {key: str(found[key]).upper() for key in how.get("uppercases", ()) if key in found}
        found |= {key: f"{found[key]}+" for key in how.get("appends", ()) if key in found}
        found |= {key: ODD[name] for key, name in how.get("odd", {}).items()}
        for key in how.get("counts", ()):
            self.shop.made += 1
            found[key] = self.shop.made
        return found

    def shared(self, props: Props) -> Props:
        """The request that all calls share once a second one has come: always the same one."""
        with self.more:
            self.requests.append(props)
            self.more.notify_all()
            self.more.wait_for(lambda: len(self.requests) > 1, timeout=0.2)
            return min(self.requests, key=lambda request: str(request["color"]))

    def check(self, olds: Props, news: Props) -> CheckResult:
        how = self.how("check")
        self.begin("check", news, set())
        checked = self.answer("check", {**how.get("defaults", {}), **copy.deepcopy(news)}, olds)
        news.update(how.get("changesNews", {}))
        olds.update(how.get("changesOlds", {}))
        return CheckResult(checked, [])

    def diff(self, _id: str, olds: Props, news: Props) -> DiffResult:
        how = self.how("diff")
        self.begin("diff", news, set())
        keys = [key for key in {**news, **how.get("expects", {})} if key not in how.get("ignores", ())]
        wanted = {**news, **how.get("expects", {})}
        changed = [key for key in keys if olds.get(key) != wanted[key]]
        return DiffResult(
            changes=bool(changed) or how.get("always", False),
            replaces=[key for key in changed if key in how.get("replaces", ("name",))],
            delete_before_replace=how.get("deleteFirst", False),
        )

    def create(self, props: Props) -> CreateResult:
        how = self.how("create")
        taken = any(box["name"] == props["name"] for box in self.shop.boxes.values())
        key = "" if how.get("ignoresKey") else current_call().operation_key
        known = self.shop.keys.get(key, "") if key else ""
        self.last = props
        self.begin("create", props, {"taken"} if taken and known not in self.shop.boxes else set())
        if how.get("shares"):
            props = self.shared(props)
        if known not in self.shop.boxes:
            self.shop.made += 1
            ids = how.get("ids", [how.get("id", f"box-{self.shop.made}")])
            known = self.filled(ids[next(self.creates) % len(ids)], props)
            if key:
                self.shop.keys[key] = known
        if not how.get("skips"):
            self.shop.boxes[known] = dict(props)
        return CreateResult(known, self.answer("create", {**props, "url": f"shop/{known}"}, id_=known))

    def read(self, id_: str, props: Props) -> ReadResult:
        how = self.how("read")
        found = self.shop.boxes.get(id_)
        self.begin("read", props, {"gone"} if found is None else set())
        if how.get("remembers") and "name" in props:
            return ReadResult(id_, props, {key: it for key, it in props.items() if key != "url"})
        if found is None or (how.get("needsProps") and "url" not in props):
            return ReadResult("", {})
        outs = self.answer("read", {**found, "url": f"shop/{id_}"}, id_=id_)
        return ReadResult(
            self.filled(how.get("id", id_), found, id_), outs, {key: outs[key] for key in found if key in outs}
        )

    def update(self, id_: str, olds: Props, news: Props) -> UpdateResult:
        how = self.how("update")
        self.last = news
        self.begin("update", news, {"gone"} if id_ not in self.shop.boxes else set())
        kept = {key: self.shop.boxes.get(id_, {}).get(key) for key in how.get("leaves", ())}
        if how.get("moves"):
            self.shop.boxes.pop(id_, None)
            self.shop.made += 1
            self.shop.boxes[f"box-{self.shop.made}"] = dict(news)
        elif not how.get("skips"):
            self.shop.boxes[id_] = {**news, **kept}
        return UpdateResult(self.answer("update", {**news, "url": f"shop/{id_}"}, olds, id_))

    def delete(self, id_: str, props: Props) -> None:
        how = self.how("delete")
        self.begin("delete", props, {"gone"} if id_ not in self.shop.boxes else set())
        if how.get("all"):
            self.shop.boxes.clear()
        elif not how.get("skips"):
            self.shop.boxes.pop(id_, None)


def provider_of(case: Props) -> type[Box]:
    """The class of a case's provider: a method that is null there is one that it does not have."""
    lacking = {name: getattr(ResourceProvider, name) for name, how in case["provider"].items() if how is None}
    return type("Box", (Box,), {"case": case, "__module__": __name__, **lacking})
