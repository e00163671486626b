"""A private stack in memory, with the real engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko._run.quiet import QUIET_SECONDS
from maloko.testing._operations._async_verbs import AsyncVerbs
from maloko.testing._operations._calls import Call, Calls
from maloko.testing._operations._clock import Clock
from maloko.testing._operations._faults import NOTHING, Fault, in_force, make_fault, place_of
from maloko.testing._operations._ledger import Ledger
from maloko.testing._operations._leftovers import tear_down
from maloko.testing._operations._outcome import Plan, Run
from maloko.testing._operations._owner import Owner
from maloko.testing._operations._runs import execute, on_a_free_thread, run_of
from maloko.testing._operations._settings import Settings
from maloko.testing._operations._stubs import PackageStubs
from maloko.testing._scrubbing import Scrubber, secret_texts
from maloko.testing._snapshots import HIDDEN_IN_SNAPSHOTS, Snapshot, state_snapshot
from maloko.testing._values import Secret, encode
from maloko.testing._worlds import ids_of

if TYPE_CHECKING:
    from maloko._maloko import TestStack


@dataclass(frozen=True)
class History:
    """What became of a resource, over all runs."""

    actions: list[str]
    """What was done, in order; `same` left out."""
    ids: list[str]
    """The ids that its object has had, in order; an id that stays is listed once."""


class Stack:
    """A private stack in memory. Made by `maloko.stack(...)`, and torn down at the end of the test."""

    def __init__(
        self,
        kit: Owner,
        program: Any,
        *,
        inputs: Mapping[str, Any] | None = None,
        config: Mapping[str, Any] | None = None,
        secrets: Mapping[str, Any] | None = None,
        references: Mapping[str, Mapping[str, Any]] | None = None,
        project: str = "project",
        name: str = "dev",
        resource: str = "it",
        parallel: int = 16,
        real_time: bool = False,
        world: Any = None,
        quiet: float = QUIET_SECONDS,
        stubs: Mapping[str, Any] | None = None,
        plugins: str | None = None,
        state: TestStack | None = None,
    ) -> None:
        from maloko._maloko import TestStack
        from maloko.testing._operations._programs import program_of

        self.kit = kit
        self.inputs: dict[str, Any] = dict(inputs or {})
        """The inputs of the one resource, where the stack was made of a provider or of a class of resources."""
        self._makes_one, self._make = program_of(program, self.inputs, resource)
        if inputs is not None and not self._makes_one:
            raise MalokoError(
                "inputs= is for a provider or a class of resources; a program function makes its own resources"
            )
        self.config = Settings(config, secrets)
        """The configuration: `s.config["acl"] = "private"`; `s.config.set_secret("token", "...")`."""
        self.references = dict(references or {})
        """Outputs of other stacks, by name, for `pulumi.StackReference`; `Secret(value)` for secret ones."""
        self.name = name
        """The stack's name."""
        self.project = project
        """The project's name."""
        self.parallel = parallel
        """Provider operations at a time."""
        self.real_time = real_time
        """Does the engine go by the machine's clock instead of `clock`?"""
        self.quiet = quiet
        """How many seconds a program may wait while nothing goes on that could end its waiting, before it fails."""
        given = plugins or kit.plugins
        self.packages = PackageStubs(stubs, given)
        """What stands in for the plugins of packages."""
        self.ledger: Ledger | None = None
        """Where the stack is kept, if it is kept on disk."""
        if state is not None:
            self.state = state
        elif kit.cloud is None:
            self.state = TestStack(project, name)
        else:
            self.ledger = Ledger.of_test(kit.cloud, kit.test, len(kit.stacks), project, name, given)
            self.state = self.ledger.open()
            self.real_time = True
        self.clock = Clock(self.state)
        """The stack's clock."""
        if world is not None:
            ids_of(world)  # what is no world is found out at once, and not when the test has ended
        self.world = world
        """What the providers talk to: a mapping, set or list, or something with a method `objects()`. At the end of the
        test nothing may be left in it."""
        self.runs: list[Run] = []
        """All operations so far, in order."""
        self._calls: list[Call] = []
        self.calls = Calls(self._calls)
        """What providers were asked, over all runs."""
        self.faults: list[Fault] = []
        """The stubs and faults that are in force, the newest first."""
        self.left: str | None = None
        """Why the test leaves what it made; `None` when it does not."""
        self._running: Any = None
        if state is None:
            kit.adopt(self)
        if self.ledger is not None and self.ledger.leftover:
            self._drain()

    def another(self, program: Any, **settings: Any) -> Stack:
        """A stack object on the same state, as somebody else has it who works on the same stack: only one of the two
        may work on it at a time. It is not torn down by itself.

        :param program: as for `maloko.stack`.
        :param settings: as for `maloko.stack`, save `project`, `name` and `real_time`, which are those of this stack.
        """
        other = Stack(
            self.kit,
            program,
            **settings,
            project=self.project,
            name=self.name,
            real_time=self.real_time,
            state=self.state,
        )
        if not settings.keys() & {"stubs", "plugins"}:
            other.packages = self.packages
        return other

    # Verbs.

    @property
    def aio(self) -> AsyncVerbs:
        """The verbs to be awaited, under asyncio, trio or anyio: `await s.aio.up()`."""
        return AsyncVerbs(self, self.kit.later)

    def preview(self, **options: Any) -> Plan:
        """Says what `up` would do. Raises what the program or a provider raised.

        :param options: `refresh=True`, `targets=[...]`, `excludes=[...]`, `replace=[...]` (URNs or globs). Another
            one raises `TypeError`.
        """
        return self._checked("preview", options)

    def up(self, *, settle: bool = True, **options: Any) -> Plan:
        """Makes the world as the program says, and gives what was done. Raises what the program or a provider raised.

        :param settle: plan again afterwards, without and with a refresh, with the same `targets` and `excludes`; both
            plans must be empty, and if one is not, an `AssertionError` names the properties that keep changing.
        :param options: as for `preview`; and `continue_on_error=True`, `update_changed_providers=True`.
        """
        plan = self._checked("up", options)
        if settle:
            self.assert_settled(**{key: options[key] for key in ("targets", "excludes") if key in options})
        return plan

    def refresh(self, **options: Any) -> Plan:
        """Makes the state as the world is, and gives what differed."""
        return self._checked("refresh", options)

    def destroy(self, **options: Any) -> Plan:
        """Removes everything; the program runs first, to bring its provider objects."""
        return self._checked("destroy", options)

    def import_(self, name: str, id_: str) -> Plan:
        """Takes an object that exists over into the state, as the resource of that name in the program."""
        return self._checked("import", {"imports": [import_of(self.preview()[name].told, id_)]})

    def run(self, verb: str, **options: Any) -> Run:
        """Runs an operation and says how it ended, without raising for a failure."""
        return on_a_free_thread(lambda: self._run(verb, options))

    def assert_settled(self, **selection: list[str]) -> None:
        """Fails unless two more plans, without and with a refresh, are empty; names what keeps changing.

        Their calls are not those of the test: `calls`, `runs` and `history` do not have them.

        :param selection: `targets=[...]` or `excludes=[...]`: what the plans are about.
        """
        for how, refresh in (("the same program", False), ("the same program, after a refresh", True)):
            plan = self._checked("preview", {"refresh": refresh, **selection}, aside=True)
            if not plan.changed:
                continue
            lines = []
            for name, entry in plan.changed.items():
                paths = ", ".join(f"'{path}' ({change!r})" for path, change in entry.changes.items())
                lines.append(
                    f"  {entry.action} {name}: "
                    + (f"keeps changing: {paths}" if paths else "`diff` says so, and no property has changed")
                )
            raise AssertionError(
                f"the stack does not settle: planned again with {how}, it is not left as it is\n"
                + "\n".join(lines)
                + "\n`diff` is handed the outputs as `olds`: let `create` and `update` return every input that `diff` "
                "compares, as it was given, and `read` return what they do; or say up(settle=False)"
            )

    # What is there.

    def resources(self) -> dict[str, dict[str, Any]]:
        """The resources of the state by name: `type`, `urn`, `id`, `inputs`, `outputs`, `secret` (paths), `parent`,
        `custom`, `protect`."""
        states = json.loads(self.state.resources())["rows"]
        return {resource["name"]: resource for resource in states if not resource["delete"]}

    def unresolved_creates(self) -> list[dict[str, Any]]:
        """Creates whose outcome is unknown: `urn`, and `doubt` (why it is unknown)."""
        unresolved: list[dict[str, Any]] = json.loads(self.state.resources())["suspects"]
        return unresolved

    def outputs(self, name: str | None = None) -> dict[str, Any]:
        """The outputs of a resource, or, without a name, those of the stack. Secrets are in plain text.

        Raises `KeyError` when the state has no such resource.
        """
        if name is None:
            last = next((run for run in reversed(self.runs) if run.verb in ("up", "refresh")), None)
            return last.outputs if last is not None else {}
        resource = self._resource(name)
        outputs: dict[str, Any] = resource["outputs"]
        return outputs

    def id(self, name: str) -> str:
        """The id of a resource's object. Raises `KeyError` when the state has no such resource."""
        return str(self._resource(name)["id"])

    def history(self, name: str) -> History:
        """What became of a resource so far."""
        actions: list[str] = []
        ids: list[str] = []
        for run in self.runs:
            if run.verb == "preview":
                continue
            for entry in run.plan.entries:
                if entry.name != name or entry.failed:
                    continue
                if entry.action != "same":
                    actions.append(entry.action)
                if entry.id and entry.action != "delete" and ids[-1:] != [entry.id]:
                    ids.append(entry.id)
        return History(actions, ids)

    def snapshot(self) -> Snapshot:
        """The state as text that is the same in every run (no ids, times, secrets), for syrupy."""
        secrets = [*self.secret_texts(), *secret_texts(self.export())]
        return state_snapshot(self.resources(), Scrubber(secrets, HIDDEN_IN_SNAPSHOTS))

    def export(self) -> dict[str, Any]:
        """The state as Pulumi's deployment JSON, with secrets in plain text."""
        exported: dict[str, Any] = json.loads(self.state.export())
        return exported

    def restore(self, deployment: Mapping[str, Any]) -> None:
        """Replaces the state by an exported one (of this project and stack)."""
        self.state.restore(json.dumps(deployment).encode(), "the state that the test restores")

    # Checks.

    def imports_cleanly(self, name: str, *, ignore: list[str] | tuple[str, ...] = ()) -> None:
        """Fails unless the object, imported by its id into a stack that does not know it, needs no change after that
        and has the id, the inputs and the outputs that it has here.

        :param ignore: property paths that may differ, such as a password that nobody can read back.
        """
        resource = self._resource(name)
        other = Stack(
            self.kit.silent(),
            self._make,
            project=self.project,
            name=self.name,
            quiet=self.quiet,
            state=self.state.without([resource["urn"]]),
        )
        other.config = self.config
        other.references, other.parallel, other.packages = self.references, self.parallel, self.packages
        try:
            other._checked("import", {"imports": [import_of(resource, resource["id"])]})
        except Exception as error:
            raise AssertionError(f"'{name}' cannot be imported by its id '{resource['id']}': {error}") from error
        lines = []
        taken = other._resource(name)
        if taken["id"] != resource["id"]:
            lines.append(f"  the id is {taken['id']!r} after the import, and {resource['id']!r} here")
        for part in ("inputs", "outputs"):
            for key in sorted({*resource[part], *taken[part]} - set(ignore)):
                here, there = resource[part].get(key), taken[part].get(key)
                if here != there and not key.startswith("__"):
                    lines.append(f"  {part[:-1]} '{key}' is {there!r} after the import, and {here!r} here")
        entry = other._checked("preview", {"targets": [resource["urn"]]})[name]
        changes = [change for path, change in entry.changes.items() if path not in ignore]
        if entry.action != "same" and (changes or not entry.changes):
            lines.append(f"  the next up would {entry.describe()}")
        if lines:
            raise AssertionError(
                f"'{name}' does not import cleanly\n"
                + "\n".join(lines)
                + "\n`read` is called with the id alone: let it return all outputs, and as `inputs` what a program "
                "would write; or name what cannot be read in ignore=[...]"
            )

    def set(self, **values: Any) -> None:
        """Sets inputs, where the stack was made of a provider or a class of resources; else configuration."""
        (self.inputs if self._makes_one else self.config).update(values)

    # Faults.

    def fault(
        self,
        resource: str | None = None,
        method: str | None = None,
        *,
        type: str | None = None,  # noqa: A002 the word of Pulumi's for it
        nth: int | None = None,
        raises: Any = NOTHING,
        returns: Any = NOTHING,
        hang: bool = False,
        delay: float | None = None,
        after: bool = False,
    ) -> AbstractContextManager[Fault]:
        """Makes calls go wrong, for as long as the context lasts.

        :param resource: a glob that the resource's name matches.
        :param method: the provider's method.
        :param type: a glob that the type token, or its last part, matches.
        :param nth: only this one of the calls that match, from 1.
        :param raises: an exception (or class) that is raised in the place of the call; with `after=True` once it was
            made.
        :param returns: what is returned in its place: a result, or a function of the method's arguments.
        :param hang: there is no answer, until the call's time limit gives it up, or, without one, the run is cancelled.
        :param delay: the call is made only after so many seconds of the stack's clock.
        """
        fault = make_fault(
            resource, method, type_=type, nth=nth, raises=raises, returns=returns, hang=hang, delay=delay, after=after
        )
        return in_force(self.faults, fault)

    def stub(
        self,
        target: Callable[..., Any] | type,
        method: str | None = None,
        *,
        raises: Any = NOTHING,
        returns: Any = NOTHING,
        nth: int | None = None,
        after: bool = False,
    ) -> AbstractContextManager[Fault]:
        """Replaces a method of a provider class, for as long as the context lasts: `with s.stub(P.create, raises=...)`.

        The arguments are those of `fault`. Raises `MalokoError` for what is no method of a provider.
        """
        provider, name = place_of(target, method)
        fault = make_fault(None, name, provider=provider, nth=nth, raises=raises, returns=returns, after=after)
        return in_force(self.faults, fault)

    # The end.

    def leave(self, reason: str) -> None:
        """Says that the test leaves what it made, and why: nothing is torn down."""
        self.left = reason

    def cancel(self) -> None:
        """Ends the operation that goes on just now as Ctrl-C does. May be called from a provider method."""
        running = self._running
        if running is not None:
            running.cancel()

    def secret_texts(self) -> list[str]:
        """The texts that are secret: of the configuration, of `inputs` and `references`, and of the state."""
        found = self.config.secret_texts()
        given = [*self.inputs.values(), *(value for outputs in self.references.values() for value in outputs.values())]
        found.extend(value.value for value in given if isinstance(value, Secret) and isinstance(value.value, str))
        for resource in self.resources().values() if self._running is None else ():
            for path in resource["secret"]:
                value = resource["outputs"].get(path, resource["inputs"].get(path))
                if isinstance(value, str):
                    found.append(value)
        return found

    def _resource(self, name: str) -> dict[str, Any]:
        states = self.resources()
        if name not in states:
            raise KeyError(f"the state has no resource '{name}'; those that it has: {', '.join(states) or 'none'}")
        return states[name]

    def _drain(self) -> None:
        """Deletes what a killed run of the test has left."""
        problems = tear_down(self)
        if problems:
            raise MalokoError(
                "an earlier run of this test was killed, and what it left is still there: " + "; ".join(problems)
            )

    def _checked(self, verb: str, options: Mapping[str, Any], *, aside: bool = False) -> Plan:
        """:param aside: the test did not ask for it, so its calls are not those of the test."""
        run = on_a_free_thread(lambda: self._run(verb, options, aside))
        failure = run.failure()
        if failure is not None:
            self.kit.failed(self, run, failure)
            raise failure
        return run.plan

    def _run(self, verb: str, options: Mapping[str, Any], aside: bool = False) -> Run:
        unknown = set(options) - set(_OPTIONS)
        if unknown:
            raise TypeError(f"{verb}() has no option '{min(unknown)}'; those that there are: {', '.join(_OPTIONS)}")
        if self.kit.over:
            raise MalokoError(
                f"{verb}() came after the end of the test '{self.kit.test}', which has torn the stack down: a stack is "
                "used by the test that makes it"
            )
        if aside:
            return self._once(verb, options, None, aside)
        return self.kit.around(self, verb, lambda crash: self._once(verb, options, crash, aside))

    def _once(self, verb: str, options: Mapping[str, Any], crash: dict[str, Any] | None, aside: bool = False) -> Run:
        from maloko._run.host import Host

        if self._running is not None:
            raise MalokoError(
                f"{verb}() was called while another operation on this stack goes on; let that one end first, or use "
                "another stack"
            )
        host = Host()
        order: dict[str, Any] = {
            "verb": "up" if verb == "preview" else verb,
            "preview": verb == "preview",
            "time": "real" if self.real_time else "virtual",
            "parallel": self.kit.parallel or self.parallel,
            "config": self.config.order(),
            "references": encode(self.references),
            "faults": [fault.order_for(host) for fault in self.faults],
            "crash": crash,
            "seed": self.kit.seed,
            "page": self.kit.pages is not None,
            **self.packages.order(host),
            **{_OPTIONS[key]: value for key, value in options.items()},
        }

        def started(run: Any) -> None:
            self._running = run

        try:
            report, exception = execute(self.state, host, order, self._make, started, self.quiet)
        finally:
            self._running = None
        run = run_of(verb, report, exception)
        self.kit.ran(run)
        if not aside:
            self.runs.append(run)
            self._calls.extend(run.calls)
        return run


def import_of(resource: Mapping[str, Any], id_: str) -> dict[str, Any]:
    """What the engine is told to take over: the object with this id, as that resource."""
    return {"urn": resource["urn"], "type": resource["type"], "parent": resource["parent"], "id": id_}


_OPTIONS = {
    "refresh": "refresh",
    "targets": "targets",
    "excludes": "excludes",
    "replace": "replace",
    "continue_on_error": "continueOnError",
    "update_changed_providers": "updateChangedProviders",
    "ignore_protect": "ignoreProtect",
    "imports": "imports",
}
