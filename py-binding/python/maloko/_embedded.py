"""Function programs against a state in memory: what the package's own tests and benches use."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from maloko._maloko import TestStack
from maloko._run.host import Host
from maloko._run.program import Program
from maloko.testing._operations._runs import execute, on_a_free_thread


@dataclass(frozen=True)
class Result:
    """The outcome of an operation."""

    outcome: str
    """`succeeded`, `failed` or `cancelled`."""
    changes: dict[str, int]
    """Resources by what was done to them."""
    steps: list[tuple[str, str]]
    """Op and URN of each step that was done, in order."""
    diagnostics: list[tuple[str, str, str]]
    """Severity, URN and text of each message, in order."""
    error: str | None = None
    """The first error."""
    exception: BaseException | None = None
    """The exception that was raised by the program or a provider method, as it was raised."""

    def messages(self, severity: str) -> list[str]:
        """The texts of one severity."""
        return [text for kind, _, text in self.diagnostics if kind == severity]


@dataclass
class Stack:
    """A stack in memory."""

    project: str = "project"
    name: str = "dev"
    config: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    parallel: int = 16
    state: TestStack = field(init=False)

    def __post_init__(self) -> None:
        self.state = TestStack(self.project, self.name)

    def up(self, program: Program, *, update_changed_providers: bool = False) -> Result:
        """Makes the world as the program says; raises what the program or a provider raised."""
        return self._checked("update", program, update_changed_providers=update_changed_providers)

    def preview(self, program: Program) -> Result:
        """Says what `up` would do."""
        return self._checked("update", program, dry_run=True)

    def refresh(self, program: Program) -> Result:
        """Makes the state as the world is."""
        return self._checked("refresh", program)

    def destroy(self, program: Program) -> Result:
        """Removes everything; the program runs first, to bring its provider objects."""
        return self._checked("destroy", program)

    def run(
        self, kind: str, program: Program, *, dry_run: bool = False, update_changed_providers: bool = False
    ) -> Result:
        """Runs an operation and says how it ended, without raising."""
        return on_a_free_thread(lambda: self._run(kind, program, dry_run, update_changed_providers))

    def export(self) -> dict[str, Any]:
        """The state as Pulumi's deployment JSON."""
        exported: dict[str, Any] = json.loads(self.state.export())
        return exported

    def restore(self, deployment: dict[str, Any]) -> None:
        """Replaces the state by an exported one, which may be another stack's."""
        self.state.restore(json.dumps(deployment).encode(), "the exported state")

    def resources(self) -> dict[str, dict[str, Any]]:
        """The resources of the state that are neither the stack nor a provider, by name."""
        deployment = self.export()
        deployment = deployment.get("deployment", deployment)
        states = deployment.get("resources") or []
        hidden = ("pulumi:pulumi:Stack", "pulumi:providers:")
        return {
            resource["urn"].rsplit("::", 1)[1]: resource
            for resource in states
            if not resource["type"].startswith(hidden)
        }

    def _checked(
        self, kind: str, program: Program, *, dry_run: bool = False, update_changed_providers: bool = False
    ) -> Result:
        result = self.run(kind, program, dry_run=dry_run, update_changed_providers=update_changed_providers)
        if result.exception is not None and result.outcome != "succeeded":
            raise result.exception
        return result

    def _run(self, kind: str, program: Program, dry_run: bool, update_changed_providers: bool) -> Result:
        order = {
            "verb": "up" if kind == "update" else kind,
            "preview": dry_run,
            "time": "real",
            "parallel": self.parallel,
            "config": self._config(),
            "updateChangedProviders": update_changed_providers,
        }
        report, exception = execute(self.state, Host(), order, program)
        steps = [(op, urn) for op, urn in report["steps"]]
        diagnostics = [(it["severity"], it["urn"], it["message"]) for it in report["diagnostics"]]
        return Result(report["outcome"], report["changes"], steps, diagnostics, report["error"], exception)

    def _config(self) -> dict[str, dict[str, Any]]:
        values = [(self.config, False), (self.secrets, True)]
        return {key: {"value": value, "secret": secret} for some, secret in values for key, value in some.items()}
