"""What a release left behind, kept in a file, to see what the next one would do to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._operations._outcome import Plan, demand
from maloko.testing._scrubbing import Scrubber, secret_texts
from maloko.testing._values import HIDDEN, SECRET_KIND, SIGNATURE

if TYPE_CHECKING:
    from maloko.testing._operations._stack import Stack


class Baseline:
    """A recorded state, and the stack that has it. Nothing is deployed: plans are made with `check` and `diff`
    alone."""

    def __init__(self, path: Path, stack: Stack) -> None:
        self.path = path
        """The file."""
        self.stack = stack
        """A stack in that state, with the program of today."""

    def plan(self) -> Plan:
        """What an `up` with the program and the providers of today would do."""
        return self.stack.preview()

    def assert_upgrade_safe(self) -> Plan:
        """Fails if anything would be replaced or deleted, and says what and why; gives the plan."""
        plan = self.plan()
        demand(plan, "upgrade_safe")
        return plan


def baseline(path: Path, stack: Stack, record: bool) -> Baseline:
    """Reads a recorded state into a new stack, or records it first: deploys the program, and writes its state."""
    if record:
        stack.up()
        state = stack.export()
        # A provider may have put a secret into a property that nobody marked.
        scrubber = Scrubber([*stack.secret_texts(), *secret_texts(state)])
        kept = {
            "maloko": 1,
            "deployment": scrubber.state(_hidden(state)),
            "calls": [_call(call) for call in stack.calls],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        return Baseline(path, stack)
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MalokoError(
            f"there is no baseline {path}; record one with the release that is out: pytest --maloko-record"
        ) from None
    except ValueError as error:
        raise MalokoError(
            f"the baseline {path} is damaged ({error}); record it anew, with pytest --maloko-record"
        ) from None
    stack.restore(kept["deployment"])
    stack.leave("the objects of a baseline are not there")
    return Baseline(path, stack)


def _hidden(value: Any) -> Any:
    """A state without what is secret in it, and without what stands for provider objects, which may hold secrets
    too."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET_KIND:
            return {SIGNATURE: SECRET_KIND, "plaintext": json.dumps(HIDDEN)}
        return {key: _hidden(item) for key, item in value.items() if key != "__provider"}
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    return value


def _call(call: Any) -> dict[str, Any]:
    return {"name": call.name, "method": call.method, "args": call.args, "result": call.result, "error": call.error}
