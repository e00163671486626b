"""What providers were asked, and what they answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maloko.testing._judgement import ask
from maloko.testing._values import decode, mismatches, plain_json


@dataclass(frozen=True)
class Call:
    """A call of a provider method. What is secret in it is hidden."""

    name: str
    """The resource's name; of `configure`: the first one that needed it."""
    urn: str
    """Its URN."""
    type: str
    """Its type token."""
    method: str
    """The method."""
    args: dict[str, Any]
    """The arguments by Pulumi's names: `props`; `id`, `olds` and `news`; `id` and `props`; `config`."""
    result: Any
    """What it answered, by name (`id`, `outs`; `changes`, `replaces`, ...); `None` when it failed or never answered."""
    error: str | None
    """Why it failed; `None` when it did not."""
    error_kind: str | None
    """`raised`, `bad-return`, `partial`, `timed-out`, `interrupted`, ...; `None` when it did not fail."""
    faulted: bool
    """Was it stubbed, delayed or failed by the test?"""

    @classmethod
    def _of(cls, call: dict[str, Any]) -> Call:
        """The call of a report."""
        error = call["error"] or {}
        return cls(
            name=call["name"],
            urn=call["urn"],
            type=call["type"],
            method=call["method"],
            args=decode(call["arguments"]),
            result=decode(call["result"]),
            error=error.get("message"),
            error_kind=error.get("kind"),
            faulted=call["faulted"],
        )

    def _describe(self) -> str:
        """The call in one line."""
        outcome = f"failed: {self.error}" if self.error is not None else f"-> {self.result!r}"
        return f"{self.method} {self.name} {self.args!r} {outcome}"

    def save(self, path: str | Path) -> None:
        """Writes the call to a file (JSON), for `replay`. Raises `MalokoError` where it cannot be written."""
        ask("save_call", file=str(path), call=self._told())

    def _told(self) -> dict[str, Any]:
        """The call as a file has it."""
        args, result = plain_json(self.args), plain_json(self.result)
        return {"method": self.method, "args": args, "result": result, "error": self.error}

    def assert_args(self, **expected: Any) -> None:
        """Fails unless the arguments match (a dict needs its own keys only), and says where they do not."""
        lines = mismatches(expected, self.args)
        if lines:
            raise AssertionError(
                f"{self.method} of '{self.name}' was called with other arguments\n  " + "\n  ".join(lines)
            )


class MethodCalls:
    """The calls of one method, or of all. `calls["b"]` is the last one for that resource."""

    def __init__(self, calls: list[Call], method: str | None) -> None:
        self._calls = calls
        self._method = method

    def all(self, name: str | None = None) -> list[Call]:
        """The calls, for one resource or for all, in order."""
        return [call for call in self if name is None or call.name == name]

    def __getitem__(self, name: str) -> Call:
        found = self.all(name)
        if found:
            return found[-1]
        what = f"{self._method} of '{name}'" if self._method else f"a method for '{name}'"
        known = ", ".join(f"{call.method} {call.name}" for call in self._calls) or "none"
        raise KeyError(f"{what} was not called; the calls were: {known}")

    def __contains__(self, name: object) -> bool:
        return any(call.name == name for call in self)

    def __iter__(self) -> Iterator[Call]:
        return (call for call in self._calls if self._method is None or call.method == self._method)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "\n".join(call._describe() for call in self) or "no calls"


class Calls(MethodCalls):
    """The call log of a stack, over all its runs: `calls.create["b"].args`, `len(calls.update)`, `calls.all("b")`."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__(calls, None)
        self.configure = MethodCalls(calls, "configure")
        """Those of `configure`."""
        self.check = MethodCalls(calls, "check")
        """Those of `check`."""
        self.diff = MethodCalls(calls, "diff")
        """Those of `diff`."""
        self.create = MethodCalls(calls, "create")
        """Those of `create`."""
        self.read = MethodCalls(calls, "read")
        """Those of `read`."""
        self.update = MethodCalls(calls, "update")
        """Those of `update`."""
        self.delete = MethodCalls(calls, "delete")
        """Those of `delete`."""
        self.find = MethodCalls(calls, "find")
        """Those of `find`."""
        self.close = MethodCalls(calls, "close")
        """Those of `close`."""

    def of(self, method: str, name: str | None = None) -> list[Call]:
        """The calls of a method, for one resource or for all, in order."""
        return [call for call in self.all(name) if call.method == method]

    def clear(self) -> None:
        """Forgets the calls so far."""
        self._calls.clear()
