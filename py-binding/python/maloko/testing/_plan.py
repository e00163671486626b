"""Plans as data: what becomes, or became, of each resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maloko.testing._values import decode, mismatches

if TYPE_CHECKING:
    from maloko.testing._runs import Run


@dataclass(frozen=True)
class Change:
    """How a property differs. Equal to `(old, new)`, too."""

    path: str
    """Which property: `size`, `tags.team`, `rules[0].port`."""
    kind: str
    """`add`, `delete` or `update`; with `-replace` where the change needs a replacement."""
    old: Any
    """The value before; `SECRET` and `UNKNOWN` stand for themselves."""
    new: Any
    """The value after."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return other == (self.old, self.new)
        if isinstance(other, Change):
            return (self.path, self.kind, self.old, self.new) == (other.path, other.kind, other.old, other.new)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.old!r} -> {self.new!r}"


@dataclass(frozen=True)
class PlanEntry:
    """What becomes of one resource. Equal to the name of its action, too."""

    name: str
    """The resource's name."""
    type: str
    """Its type token."""
    urn: str
    """Its URN."""
    parent: str | None
    """Its parent's URN."""
    action: str
    """`same`, `create`, `update`, `replace`, `delete`, `read` or `import`."""
    ops: list[str]
    """The engine's steps, in order."""
    changes: dict[str, Change]
    """What differs, by property path; of updates, replacements and refreshes."""
    replaces: list[str]
    """The properties that are the reason of a replacement."""
    unknown: list[str]
    """Paths of inputs that are not known yet."""
    secret: list[str]
    """Paths of inputs and outputs that are secret."""
    delete_before_replace: bool
    """Does, in a replacement, the old object go before the new one is made?"""
    id: str
    """The object's id after the step; empty when it has none, or it is not known yet."""
    old_id: str
    """Its id before the step."""
    inputs: dict[str, Any]
    """The inputs; what is secret is `SECRET`."""
    failed: bool
    """Did a step fail?"""
    open: bool
    """Was a step begun that did not come to its end (a crash)?"""
    custom: bool
    """Has it a provider? Components have none."""

    @classmethod
    def of(cls, entry: dict[str, Any]) -> PlanEntry:
        """The entry of a report."""
        return cls(
            name=entry["name"],
            type=entry["type"],
            urn=entry["urn"],
            parent=entry["parent"],
            action=entry["action"],
            ops=entry["ops"],
            changes={
                it["path"]: Change(it["path"], it["kind"], decode(it["old"]), decode(it["new"]))
                for it in entry["changes"]
            },
            replaces=entry["replaces"],
            unknown=entry["unknown"],
            secret=entry["secret"],
            delete_before_replace=entry["deleteBeforeReplace"],
            id=entry["id"],
            old_id=entry["oldId"],
            inputs=decode(entry["inputs"]) or {},
            failed=entry["failed"],
            open=entry["open"],
            custom=entry["custom"],
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.action == other
        return self is other if isinstance(other, PlanEntry) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.urn)

    def describe(self) -> str:
        """The entry in one line."""
        told = [f"{path}: {change!r}" for path, change in self.changes.items()]
        reasons = f" because of {', '.join(self.replaces)}" if self.replaces else ""
        failed = " (failed)" if self.failed else ""
        return f"{self.action} {self.name}{reasons}{failed}" + (f" [{'; '.join(told)}]" if told else "")


class Plan(Mapping[str, PlanEntry]):
    """What an operation would do, or did, by the names of the resources, unchanged ones included.

    `plan == {"b": "create"}` compares what is neither `same` nor only looked up (`read`); to name such a one as well,
    write `{"c": "same"}`. Where two resources have one name, the key is the type token, `::` and the name. A dict in
    the place of an action is compared with the entry's attributes: `{"b": {"action": "replace", "replaces": ["acl"]}}`.
    """

    # No dataclass: snapshots of those list their fields, where the text of this one says more.
    def __init__(self, entries: list[PlanEntry], run: Run) -> None:
        self.entries = entries
        """One for each resource, in the order of their first steps."""
        self.run = run
        """The operation that the plan is of: its messages, calls, outputs."""

    def _keyed(self) -> dict[str, PlanEntry]:
        names = [entry.name for entry in self.entries]
        return {
            entry.name if names.count(entry.name) == 1 else f"{entry.type}::{entry.name}": entry
            for entry in self.entries
        }

    def __getitem__(self, name: str) -> PlanEntry:
        keyed = self._keyed()
        if name in keyed:
            return keyed[name]
        several = [key for key in keyed if key.endswith(f"::{name}")]
        if several:
            raise KeyError(f"several resources are called '{name}'; say which: {', '.join(several)}")
        known = ", ".join(keyed) or "none"
        raise KeyError(f"the plan has no resource '{name}'; those that it has: {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._keyed())

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def changed(self) -> dict[str, PlanEntry]:
        """What is neither `same` nor only looked up (`read`)."""
        return {key: entry for key, entry in self._keyed().items() if entry.action not in ("same", "read")}

    def differences(self, expected: Mapping[str, Any]) -> list[str]:
        """Where the plan is not as expected, one line each; empty when it is."""
        lines = []
        actual = self._keyed()
        for name, wanted in expected.items():
            entry = actual.get(name)
            if entry is None:
                lines.append(f"'{name}' is not in the plan; expected: {wanted!r}")
            elif isinstance(wanted, Mapping):
                have = {key: getattr(entry, key, None) for key in wanted}
                lines.extend(f"'{name}': {line}" for line in mismatches(wanted, have))
            elif wanted != entry.action:
                lines.append(f"'{name}' is to be {wanted!r}, and is: {entry.describe()}")
        more = [entry for name, entry in self.changed.items() if name not in expected]
        lines.extend(f"not expected: {entry.describe()}" for entry in more)
        return lines

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Plan):
            return self is other
        return not self.differences(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from maloko.testing._snapshots import plan_text

        return plan_text(self)


def assert_no_changes(plan: Plan) -> None:
    """Fails when the plan changes anything, and says what."""
    _refuse(plan, set(), "changes nothing")


def assert_no_replacements(plan: Plan) -> None:
    """Fails when the plan replaces anything, and says what and why."""
    _refuse(plan, {"replace"}, "replaces nothing")


def assert_no_deletes(plan: Plan) -> None:
    """Fails when the plan deletes anything, by a replacement too, and says what."""
    _refuse(plan, {"delete", "replace"}, "deletes nothing")


def _refuse(plan: Plan, actions: set[str], wanted: str) -> None:
    found = [entry for entry in plan.changed.values() if not actions or entry.action in actions]
    if found:
        lines = "\n".join(f"  {entry.describe()}" for entry in found)
        raise AssertionError(f"expected a plan that {wanted}; it has\n{lines}")
