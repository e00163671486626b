"""A fleet: its file or the same made by code, and what it plans."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from maloko._maloko import fleet_place, fleet_plan
from maloko.fleet._ends import needs_packages
from maloko.fleet._wire import Place, Plan, RunOptions

if TYPE_CHECKING:
    from maloko.fleet._run import Run

Verb = Literal["up", "preview", "refresh", "destroy", "import", "outputs"]


@dataclass(frozen=True)
class Stack:
    """Stacks of one program, for a fleet that is made by code. The members are those of an entry in the file."""

    program: str
    """A directory with `Pulumi.yaml`, `FILE.py:FUNCTION` or `FILE.js#EXPORT`, relative to the fleet's directory."""
    stack: str
    """The stack's name; `{column}` stands for what the row has there."""
    project: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = ()
    queue: str | None = None
    rows: Sequence[Mapping[str, Any]] | None = None
    """One stack for each; without rows it is one stack."""

    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = {"program": self.program, "stack": self.stack}
        if self.project is not None:
            members["project"] = self.project
        if self.labels:
            members["labels"] = dict(self.labels)
        if self.config:
            members["config"] = dict(self.config)
        if self.needs:
            members["needs"] = list(self.needs)
        if self.queue is not None:
            members["queue"] = self.queue
        if self.rows is not None:
            members["for"] = [dict(row) for row in self.rows]
        return members


class Fleet:
    """Stacks that are worked on together.

    :param place: the path of a fleet's file, or, for a fleet that is made by code, its name
    :param stacks: the stacks of a fleet that is made by code
    :param directory: that of its programs
    :param settings: members of the file beside them, such as `limits={"at_a_time": 50}`
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        stacks: Sequence[Stack] | None = None,
        *,
        directory: str | os.PathLike[str] = ".",
        **settings: Any,
    ) -> None:
        if stacks is None:
            if settings:
                raise TypeError(f"a fleet from a file takes no settings beside it: {', '.join(settings)}")
            self._source = str(Path(place).absolute())
            return
        members = [stack._members() for stack in stacks]
        document = {"directory": str(Path(directory).absolute()), "name": str(place), "stacks": members, **settings}
        self._source = json.dumps(document)

    def plan(
        self,
        verb: Verb | str,
        *,
        select: str | Sequence[str] = (),
        stacks: str | Sequence[str] = (),
        at_a_time: int | None = None,
        stop_after: int | str | None = None,
    ) -> Plan:
        """What a run would do, as it is handed to the server.

        :param select: `LABEL=PATTERN`; a stack has to match all of them
        :param stacks: names or patterns of stacks; a stack has to match one of them
        :param at_a_time: stacks at a time, in place of what the file says
        :param stop_after: failures after which nothing more begins: a number, or a share such as `5%`
        :raises MalokoError: when the file, its tables or what is asked for cannot be used
        """
        request = {
            "verb": verb,
            "select": _several(select),
            "stacks": _several(stacks),
            "atATime": at_a_time,
            "stopAfter": None if stop_after is None else str(stop_after),
            "variables": dict(os.environ),
        }
        return cast("Plan", json.loads(fleet_plan(self._source, json.dumps(request))))

    def _place(self) -> Place:
        return cast("Place", json.loads(fleet_place(self._source)))

    def up(self, **asked: Any) -> Run:
        """Begins a run that makes the resources as the programs say. The arguments are those of `start`."""
        return self.start("up", **asked)

    def preview(self, **asked: Any) -> Run:
        """Begins a run that says what `up` would do."""
        return self.start("preview", **asked)

    def refresh(self, **asked: Any) -> Run:
        """Begins a run that makes the states as the real resources are."""
        return self.start("refresh", **asked)

    def drift(self, **asked: Any) -> Run:
        """Begins a run that says where the real resources are no longer as the states have them; it changes nothing."""
        return self.start("refresh", preview_only=True, **asked)

    def destroy(self, **asked: Any) -> Run:
        """Begins a run that deletes every resource of the stacks."""
        return self.start("destroy", **asked)

    def import_(self, file: str, **asked: Any) -> Run:
        """Begins a run in which stacks take over objects that exist, listed in files such as `imports/{stack}.json`."""
        return self.start("import", import_file=file, **asked)

    def outputs(self, **asked: Any) -> Run:
        """Begins a run that reads the stacks' outputs; secret ones are `[secret]`."""
        return self.start("outputs", outputs=True, **asked)

    def start(
        self,
        verb: Verb | str,
        *,
        select: str | Sequence[str] = (),
        stacks: str | Sequence[str] = (),
        at_a_time: int | None = None,
        stop_after: int | str | None = None,
        preview_only: bool = False,
        outputs: bool = False,
        message: str = "",
        import_file: str = "",
    ) -> Run:
        """Begins a run, or gives the one that does the same already.

        References in the last states order the stacks, too, so those are read here. The arguments are those of `plan`,
        and

        :param preview_only: of a refresh: change nothing
        :param outputs: whether the ends have the stacks' outputs
        :param message: what the stacks' histories say of it
        :param import_file: of an import: where what a stack takes over is listed, such as `imports/{stack}.json`
        :raises FleetError: when the server or the states cannot be reached, or stacks refer to each other in a circle
        """
        with needs_packages():
            from maloko.fleet._run import start
        from maloko.fleet._beside import with_references

        plan = self.plan(verb, select=select, stacks=stacks, at_a_time=at_a_time, stop_after=stop_after)
        options: RunOptions = {
            "previewOnly": preview_only,
            "outputs": outputs,
            "message": message,
            "importFile": import_file,
        }
        return start(with_references(plan), options)


def load(file: str | os.PathLike[str] = "fleet.yaml") -> Fleet:
    """The fleet of a file. Nothing is read before it is asked to plan."""
    return Fleet(file)


def _several(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
