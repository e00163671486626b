"""The outcome of an operation as data: the run, and its plan, which says what becomes, or became, of each resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from json import dumps
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._judgement import ask
from maloko.testing._operations._calls import Call
from maloko.testing._operations._policies import Remediation, Violation
from maloko.testing._snapshots import normalised
from maloko.testing._values import decode, mismatches


@dataclass(frozen=True)
class Change:
    """How a property differs. Equal to `(old, new)`, too."""

    path: str
    """Which property: `size`, `tags.team`, `rules[0].port`."""
    kind: str
    """`add`, `delete` or `update`; with `-replace` where the change needs a replacement."""
    old: Any
    """The value before; `None` where there was none. `SECRET` and `UNKNOWN` stand for themselves."""
    new: Any
    """The value after; `None` where there will be none."""

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
    """`same`, `create`, `update`, `replace`, `delete`, `delete-with` (its owner), `retain`, `read`, `import` or
    `discard`. `delete`, of a refresh: its object is gone."""
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
    key: str = field(repr=False, compare=False)
    """What it is called in its plan."""
    _told: dict[str, Any] = field(repr=False, compare=False)
    """The entry as the engine reported it."""

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> PlanEntry:
        """The entry of a report."""
        members = {it.name: entry[it.name] for it in fields(cls) if it.name in entry}
        members.update(
            changes={
                path: Change(path, it["kind"], decode(it.get("old")), decode(it.get("new")))
                for path, it in entry["changes"].items()
            },
            delete_before_replace=entry["deleteBeforeReplace"],
            old_id=entry["oldId"],
            inputs=decode(entry["inputs"]) or {},
            _told=entry,
        )
        return cls(**members)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.action == other
        return self is other if isinstance(other, PlanEntry) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.urn)


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
        return {entry.key: entry for entry in self.entries}

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
        actual = self._keyed()
        wishes = []
        for name, wanted in expected.items():
            entry = actual.get(name)
            wrong: list[str] = []
            if entry is not None and isinstance(wanted, Mapping):
                wrong = mismatches(wanted, {key: getattr(entry, key, None) for key in wanted})
            elif entry is not None and wanted != entry.action:
                wrong = [f"expected {_shown(wanted)}, got {_shown(entry.action)}"]
            wishes.append({"key": name, "shown": _shown(wanted), "mismatches": wrong})
        lines: list[str] = ask("plan_differences", steps=self._told(), expected=wishes)
        return lines

    def _told(self) -> list[dict[str, Any]]:
        """The entries as the engine reported them."""
        return [entry._told for entry in self.entries]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Plan):
            return self is other
        return not self.differences(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _text(self)


class RunFailed(MalokoError):  # noqa: N818 it is what came of the run
    """An operation failed, and no exception of the program or of a provider says why."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run
        """The outcome of the operation."""


@dataclass
class Run:
    """The outcome of an operation."""

    verb: str
    """`preview`, `up`, `refresh`, `destroy` or `import`."""
    outcome: str
    """`succeeded`, `failed`, `cancelled`, or `crashed` at a point that a test chose."""
    error: str | None
    """The first error in words."""
    exception: BaseException | None
    """The exception that was raised first by the program or a provider method, as it was raised."""
    calls: list[Call]
    """What providers were asked."""
    diagnostics: list[tuple[str, str, str]]
    """Severity, URN and text of each message."""
    steps: list[tuple[str, str]]
    """Op and URN of each step that was done."""
    changes: dict[str, int]
    """Resources by op."""
    outputs: dict[str, Any]
    """The stack's outputs."""
    secret_outputs: list[str]
    """The paths of those that are secret."""
    _points: list[dict[str, Any]]
    """The points at which it could have crashed: `label`, `number`, `kinds`."""
    _struck: dict[str, Any] | None
    """Where it crashed (`point`) and how (`kind`); `None` when it did not."""
    seconds: float
    """The time that it took on the stack's clock."""
    violations: list[Violation]
    """What policies found."""
    remediations: list[Remediation]
    """What policies rewrote."""
    _refusal: str | None
    """Which mandatory policies failed it, in words."""
    plan: Plan = field(init=False)
    """What was done, or would be."""
    _record: str | None = field(default=None, repr=False)
    """What was noted for its page (`pytest --maloko-page`)."""

    def messages(self, severity: str) -> list[str]:
        """The texts of one severity: `debug`, `info`, `output`, `warning`, `error`."""
        return [text for kind, _, text in self.diagnostics if kind == severity]

    def _failure(self) -> BaseException | None:
        """What to raise when the run did not succeed."""
        if self.outcome == "succeeded":
            return None
        if self._refusal is not None:
            return RunFailed(f"{self.verb} {self.outcome}: {self._refusal}", self)
        if self.exception is not None:
            return self.exception
        told = self.error or "; ".join(self.messages("error")) or f"the run was {self.outcome}"
        return RunFailed(f"{self.verb} {self.outcome}: {told}", self)


def _text(plan: Plan) -> str:
    """A plan as lines: one for each resource that is not the same, with its changes below it."""
    ids = {id_: f"<id of {entry.name}>" for entry in plan.entries for id_ in (entry.id, entry.old_id) if id_}
    steps = [{**entry._told, "changes": _changes(entry, ids)} for entry in plan.entries]
    text: str = ask("plan_text", steps=steps)
    same = sum(entry.action == "same" for entry in plan.entries)
    lines = [f"{plan.run.verb}: {plan.run.outcome}", *(f"  {line}" for line in text.splitlines()), f"  same: {same}"]
    return "\n".join(lines)


def _changes(entry: PlanEntry, ids: dict[str, str]) -> dict[str, Any]:
    """The changes in the order of their paths, with what differs from run to run replaced."""
    changes = {}
    for path, told in sorted(entry._told["changes"].items()):
        change = entry.changes[path]
        shown = {side: normalised(getattr(change, side), ids) for side in ("old", "new") if side in told}
        changes[path] = {"kind": change.kind, **shown}
    return changes


def assert_no_changes(plan: Plan) -> None:
    """Fails when the plan changes anything, and says what."""
    demand(plan, "no_changes")


def assert_no_replacements(plan: Plan) -> None:
    """Fails when the plan replaces anything, and says what and why."""
    demand(plan, "no_replacements")


def assert_no_deletes(plan: Plan) -> None:
    """Fails when the plan deletes anything, by a replacement too, and says what."""
    demand(plan, "no_deletions")


def assert_upgrade_safe(plan: Plan) -> None:
    """Fails when the plan replaces or deletes what an earlier release left (`s.upgrade_plan(path)`), and says what."""
    demand(plan, "upgrade_safe")


def demand(plan: Plan, what: str) -> None:
    """Fails when the plan does what it must not; `engine-kit/src/plan_assertions.rs` has the demands."""
    judged = ask("plan_demand", steps=plan._told(), demand=what)
    if not judged["holds"]:
        raise AssertionError(judged["text"])


def _shown(wanted: Any) -> str:
    return dumps(wanted) if isinstance(wanted, str) else repr(wanted)
