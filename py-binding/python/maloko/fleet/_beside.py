"""What a fleet's commands do with single stacks where they run themselves: no worker is asked."""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from maloko._reasons import Reason
from maloko.fleet._deploy import StackCommands, variables_for
from maloko.fleet._ends import FleetError
from maloko.fleet._wire import ATTEMPTS_A_START, Plan, StackSpec

R = TypeVar("R")

_ATTEMPT = re.compile(r"^( +maloko\.attempt: )(\d+)$", re.MULTILINE)


def show_operation(stack: StackSpec, plan: Plan, run: str | None) -> str:
    """What is on record of the last operation of a run on a stack; of the last run where none is named.

    :raises FleetError: when the stack's history cannot be read, or has nothing of the run that is named
    """

    def work(commands: StackCommands) -> str:
        operations = _operations(commands, plan)
        wanted = next((operation for operation in operations if run in (None, operation["run"])), None)
        if wanted is not None:
            shown = commands.command(["stack", "history", "show", str(wanted["version"])]).result
            text = (shown.stdout if shown.code == 0 else shown.stderr).rstrip("\n")
            return _ATTEMPT.sub(lambda it: f"{it[1]}{_attempt(it[2])}", text)
        if run is None:
            return f"No run of the fleet has worked on {stack['id']}"
        if not operations:
            raise FleetError(f"{stack['id']} has nothing on record of run {run}, nor of another one of the fleet")
        other = operations[0]["run"]
        raise FleetError(
            f"{stack['id']} has nothing on record of run {run}; its last operation was of run {other}:\n"
            f"`maloko fleet logs {stack['id']} --run {other}`"
        )

    return _with(stack, plan, work)


def operations_of(stack: StackSpec, plan: Plan) -> list[dict[str, Any]]:
    """What the runs of the fleet did with a stack, the newest first: `run`, `attempt`, `version`, `kind`, `result`,
    `started`, `changes`.

    :raises FleetError: when the stack's history cannot be read
    """
    return _with(stack, plan, lambda commands: _operations(commands, plan))


def _operations(commands: StackCommands, plan: Plan) -> list[dict[str, Any]]:
    told = commands.command(["stack", "history", "--json", "--page-size", "0"])
    if told.why is not None and told.why.reason is Reason.NO_STACK:
        return []
    if told.result.code != 0:
        raise FleetError(told.result.stderr.strip())
    operations = []
    for entry in json.loads(told.result.stdout):
        run, _, _ = entry["environment"].get("maloko.run", "").partition("/")
        if run.startswith(f"{plan['fleet']}-"):
            operations.append(
                {
                    "run": run,
                    "attempt": _attempt(entry["environment"]["maloko.attempt"]),
                    "version": entry["version"],
                    "kind": entry["kind"],
                    "result": entry["result"],
                    "started": entry["startTime"],
                    "changes": entry.get("resourceChanges") or {},
                }
            )
    return operations


def _attempt(number: str) -> int:
    """Which attempt of a run it was, of the number that tells leases which one is the later."""
    start, attempt = divmod(int(number), ATTEMPTS_A_START)
    return start + attempt


def adopt_key(stack: StackSpec, plan: Plan) -> str:
    """Gives a stack the key of the fleet; gives why it has not got it, or nothing."""

    def work(commands: StackCommands) -> str:
        done = commands.command(["stack", "change-secrets-provider", "fleet"])
        return "" if done.result.code == 0 else (done.why.text if done.why is not None else done.result.stderr.strip())

    return _with(stack, plan, work)


def with_references(plan: Plan) -> Plan:
    """The plan, in which a stack also needs those to which its last state refers.

    :raises FleetError: when stacks refer to each other in a circle
    """
    names = {stack["id"] for stack in plan["stacks"]}
    needs = {stack["id"]: list(stack["needs"]) for stack in plan["stacks"]}
    for group in _by_project(plan):
        for name, references in _references(group, plan).items():
            for other in references:
                if name in names and other in names and other != name:
                    earlier, later = (name, other) if plan["verb"] == "destroy" else (other, name)
                    if earlier not in needs[later]:
                        needs[later].append(earlier)
    circle = _circle(needs, names)
    if circle:
        raise FleetError(
            f"stacks need each other by the references in their states: {', '.join(circle)}; "
            "leave one of them out of the run (`--stack`, `--select`)"
        )
    return {**plan, "stacks": [{**stack, "needs": needs[stack["id"]]} for stack in plan["stacks"]]}


def _by_project(plan: Plan) -> list[list[StackSpec]]:
    groups: dict[tuple[str, str], list[StackSpec]] = defaultdict(list)
    for stack in plan["stacks"]:
        groups[stack["project"], stack["program"]].append(stack)
    return list(groups.values())


def _references(group: list[StackSpec], plan: Plan) -> dict[str, list[str]]:
    def work(commands: StackCommands) -> dict[str, list[str]]:
        names = [stack["stack"] for stack in group]
        told = commands.command(["stack", "references", *names, "--json"])
        if told.result.code == 0:
            return cast("dict[str, list[str]]", json.loads(told.result.stdout))
        if told.why is not None and told.why.reason is Reason.BACKEND:
            raise FleetError(f"the references of the stacks of {group[0]['project']} cannot be read: {told.why.text}")
        # One of them cannot be read. The run tells of that; the others have their order.
        found: dict[str, list[str]] = {}
        for name in names if len(names) > 1 else []:
            alone = commands.command(["stack", "references", name, "--json"])
            found |= json.loads(alone.result.stdout) if alone.result.code == 0 else {}
        return found

    return _with(group[0], plan, work)


def _with(stack: StackSpec, plan: Plan, work: Callable[[StackCommands], R]) -> R:
    with tempfile.TemporaryDirectory(prefix="maloko-stack-") as private:
        # Secret values are where workers are, and not asked for here.
        plain = {name: value for name, value in stack["config"].items() if isinstance(value, str)}
        named: StackSpec = {**stack, "config": {**plain}}
        root = Path(plan["directory"])
        return work(StackCommands(named, root, Path(private), variables_for(plan["backend"], root)))


def _circle(needs: dict[str, list[str]], names: set[str]) -> list[str]:
    """The stacks that can never begin; none where the order is sound."""
    unmet = {name: sum(need in names for need in needs[name]) for name in needs}
    dependents: dict[str, list[str]] = defaultdict(list)
    for name, wanted in needs.items():
        for need in wanted:
            dependents[need].append(name)
    free = [name for name, count in unmet.items() if count == 0]
    while free:
        for dependent in dependents[free.pop()]:
            unmet[dependent] -= 1
            if unmet[dependent] == 0:
                free.append(dependent)
    return [name for name, count in unmet.items() if count > 0]
