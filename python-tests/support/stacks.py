"""Stacks in memory whose program is given with each operation; the kit's have one program, and look at what they do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from maloko._maloko import TestStack
from maloko._run.host import Host
from maloko._run.program import Program
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._runs import execute, on_a_free_thread, run_of


@dataclass
class Stack:
    """A stack in memory."""

    project: str = "project"
    name: str = "dev"
    config: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    parallel: int = 16

    def __post_init__(self) -> None:
        self.state = TestStack(self.project, self.name)

    def up(self, program: Program, **options: bool) -> Run:
        """Makes the world as the program says; raises what the program or a provider raised."""
        return self._checked("update", program, **options)

    def preview(self, program: Program) -> Run:
        """Says what `up` would do."""
        return self._checked("update", program, dry_run=True)

    def refresh(self, program: Program) -> Run:
        """Makes the state as the world is."""
        return self._checked("refresh", program)

    def destroy(self, program: Program) -> Run:
        """Removes everything; the program runs first, to bring its provider objects."""
        return self._checked("destroy", program)

    def run(self, kind: str, program: Program, *, dry_run: bool = False, update_changed_providers: bool = False) -> Run:
        """Runs an operation and says how it ended, without raising."""
        values = [(self.config, False), (self.secrets, True)]
        config = {key: {"value": value, "secret": secret} for some, secret in values for key, value in some.items()}
        order = {
            "verb": "up" if kind == "update" else kind,
            "preview": dry_run,
            "time": "real",
            "parallel": self.parallel,
            "config": config,
            "updateChangedProviders": update_changed_providers,
        }
        return on_a_free_thread(lambda: run_of(kind, *execute(self.state, Host(), order, program)))

    def export(self) -> dict[str, Any]:
        """The state as Pulumi's deployment JSON."""
        exported: dict[str, Any] = json.loads(self.state.export())
        return exported

    def restore(self, deployment: dict[str, Any]) -> None:
        """Replaces the state by an exported one, which may be another stack's."""
        self.state.restore(json.dumps(deployment).encode(), "the exported state")

    def resources(self) -> dict[str, dict[str, Any]]:
        """The resources of the state that are neither the stack nor a provider, by name."""
        return {
            resource["urn"].rsplit("::", 1)[1]: resource
            for resource in self.export()["deployment"].get("resources") or []
            if not resource["type"].startswith(("pulumi:pulumi:Stack", "pulumi:providers:"))
        }

    def _checked(self, kind: str, program: Program, **options: bool) -> Run:
        run = self.run(kind, program, **options)
        if run.exception is not None and run.outcome != "succeeded":
            raise run.exception
        return run
