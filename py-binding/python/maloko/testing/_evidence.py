"""What is kept of a test that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maloko.testing._kit import Kit
    from maloko.testing._operations._stack import Stack

_CALLS = 40
"""So many calls are shown, the last ones."""


def evidence(kit: Kit, again: str) -> list[tuple[str, str]]:
    """Titles and texts: the last plans, the calls, the journal that is left, and the line that runs the test again."""
    sections = []
    for stack in kit.stacks:
        name = f"maloko stack '{stack.name}'"
        if stack.runs:
            sections.append((f"{name}: operations", "\n".join(_operations(stack))))
        calls = list(stack.calls)
        if calls:
            shown = [call._describe() for call in calls[-_CALLS:]]
            more = [f"({len(calls) - _CALLS} earlier calls are left out)"] if len(calls) > _CALLS else []
            sections.append((f"{name}: provider calls", "\n".join(more + shown)))
        journal = stack._state.stored()[1]
        if journal:
            # What is secret in it is encrypted.
            sections.append((f"{name}: journal", journal.decode("utf-8", "replace").rstrip()))
    sections.append(("maloko: run it again with", again))
    return sections


def _operations(stack: Stack) -> list[str]:
    lines = []
    for run in stack.runs[-6:]:
        lines.append(repr(run.plan))
        if run._struck is not None:
            lines.append(f"  cut off: {run._struck['kind']} {run._struck['point']['label']}")
        lines.extend(
            f"  {severity}: {text}" for severity, _, text in run.diagnostics if severity in ("warning", "error")
        )
    return lines
