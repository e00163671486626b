"""The testing kits of both languages have the same public members, in snake and in camel case; or a reason why not.

Prints what one of them alone has, and fails.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "py-binding/python/maloko/testing"
TYPESCRIPT = ROOT / "node-binding/ts/testing"

TWINS = [
    (["_operations/_stack.py:Stack"], ["stack/stack.ts:TestStack"]),
    (["_operations/_stack.py:History"], ["stack/settings.ts:History"]),
    (["_operations/_clock.py:Clock"], ["stack/settings.ts:TestClock"]),
    (["_operations/_calls.py:Calls", "_operations/_calls.py:MethodCalls"], ["stack/calls.ts:Calls"]),
    (["_operations/_calls.py:Call"], ["stack/calls.ts:Call"]),
    (["_operations/_outcome.py:PlanEntry"], ["stack/plan.ts:Planned"]),
    (["_operations/_outcome.py:Change"], ["stack/plan.ts:Change"]),
    (["_operations/_outcome.py:Run"], ["stack/settings.ts:Run", "stack/settings.ts:Outcome"]),
    (["_operations/_policies.py:Violation"], ["stack/policies.ts:Violation"]),
    (["_operations/_policies.py:Remediation"], ["stack/policies.ts:Remediation"]),
    (["_direct.py:Direct"], ["direct.ts:Direct"]),
]
"""Classes and interfaces that are one thing to users."""

ALONE = {
    "Call.assert_args": "calls of TypeScript are plain objects: `expect` compares them",
    "Call.save": "for the same reason `saveCall(call, file)` is a function",
    "Change.path": "the key of `changes` says it, in both",
    "PlanEntry.key": "a plan of TypeScript is a plain object by these keys",
    "Run.messages": "diagnostics of TypeScript are objects, of which a filter says it",
    "Stack.aio": "verbs of JavaScript are awaited anyway",
    "Stack.snapshot": "vitest and jest have serialisers of snapshots",
}
"""Members that one language alone has, each with the reason. Adding one is a decision: it makes the kits two."""


def snake(name: str) -> str:
    """A name of TypeScript as Python has it."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name)


def of_python(place: str) -> set[str]:
    """The public members of a class: methods, properties, annotated attributes, and what `__init__` sets."""
    file, _, name = place.partition(":")
    tree = ast.parse((PYTHON / file).read_text(encoding="utf-8"))
    [found] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    members = set()
    for node in found.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            members.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            members.add(node.target.id)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            targets = [
                target
                for it in ast.walk(node)
                if isinstance(it, ast.Assign | ast.AnnAssign)
                for target in (it.targets if isinstance(it, ast.Assign) else [it.target])
            ]
            members.update(it.attr for it in targets if isinstance(it, ast.Attribute))
    # A word of the language has a line behind it.
    return {member.rstrip("_") for member in members if not member.startswith("_")}


MEMBER = re.compile(
    r"^ {4}(?:(?:readonly|get|set|async|static|override) )*([a-zA-Z]\w*)\??(?:<[^>]*>)?(?:[(:]| = )", re.MULTILINE
)


def of_typescript(place: str) -> set[str]:
    """The public members of a class or an interface, without those that are marked as internal."""
    file, _, name = place.partition(":")
    text = (TYPESCRIPT / file).read_text(encoding="utf-8")
    found = re.search(rf"^export (?:class|interface) {name}\b.*?\{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"{file} has no {name} any more: mend {Path(__file__).name}")
    body = re.sub(r"/\*\*(?:(?!\*/).)*@internal(?:(?!\*/).)*\*/\s*[^\n]*\n", "", found[1], flags=re.DOTALL)
    return {member for member in MEMBER.findall(body) if member not in ("constructor", "toString")}


def main() -> int:
    """Prints what one language alone has."""
    wrong, reasons = [], set()
    for python, typescript in TWINS:
        whose = python[0].rpartition(":")[2]
        ours = set[str]().union(*(of_python(place) for place in python))
        theirs = {snake(member) for place in typescript for member in of_typescript(place)}
        for member in sorted(ours ^ theirs):
            key = f"{whose}.{member}"
            reasons.add(key)
            if key not in ALONE:
                has, lacks = ("Python", "TypeScript") if member in ours else ("TypeScript", "Python")
                wrong.append(f"{key}: {has}'s kit has it, and {lacks}'s does not")
    wrong += [
        f"{key}: both kits have it, or neither: {Path(__file__).name} need not except it"
        for key in ALONE
        if key not in reasons
    ]
    print("\n".join(wrong) or "kits: the same public members")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
