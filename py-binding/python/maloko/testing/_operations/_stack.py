"""A private stack in memory, with the real engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko._run.quiet import QUIET_SECONDS
from maloko.testing._judgement import ask
from maloko.testing._operations._async_verbs import AsyncVerbs
from maloko.testing._operations._calls import Call, Calls
from maloko.testing._operations._clock import Clock
from maloko.testing._operations._faults import NOTHING, Fault, in_force, make_fault, place_of
from maloko.testing._operations._ledger import Ledger
from maloko.testing._operations._leftovers import tear_down
from maloko.testing._operations._outcome import Plan, Run
from maloko.testing._operations._owner import Owner
from maloko.testing._operations._policies import Policies
from maloko.testing._operations._runs import execute, on_a_free_thread, run_of
from maloko.testing._operations._stubs import PackageStubs
from maloko.testing._redaction import Redactor, secret_texts
from maloko.testing._snapshots import HIDDEN_IN_SNAPSHOTS, Snapshot, state_snapshot
from maloko.testing._values import Secret, encode, text_of
from maloko.testing._worlds import ids_of

if TYPE_CHECKING:
    from maloko._maloko import TestStack


@dataclass(frozen=True)
class History:
    """What a resource was in the course of a test: lists, in order."""

    ids: list[str]
    """Each id that it had, once: two of them mean that it was replaced."""
    actions: list[str]
    """What was done to it; `same` left out."""
    outputs: list[dict[str, Any]]
    """Its outputs after each operation that changed them; secrets in plain text."""


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
        schemas: Iterable[str | Path] | None = None,
        state: TestStack | None = None,
    ) -> None:
        from maloko._maloko import TestStack
        from maloko.testing._operations._programs import program_of

        self._kit = kit
        self.inputs: dict[str, Any] = dict(inputs or {})
        """The inputs of the one resource, where the stack was made of a provider or of a class of resources."""
        self._makes_one, self._make = program_of(program, self.inputs, resource)
        if inputs is not None and not self._makes_one:
            raise MalokoError(
                "inputs= is for a provider or a class of resources; a program function makes its own resources"
            )
        self.config: dict[str, Any] = dict(config or {})
        """The configuration: `s.config["acl"] = "private"`. A value that is no text is passed on as JSON."""
        self.secrets: dict[str, Any] = dict(secrets or {})
        """The configuration that is secret."""
        self.references = dict(references or {})
        """Outputs of other stacks, by name, for `pulumi.StackReference`; `Secret(value)` for secret ones."""
        self.name = name
        """The stack's name."""
        self.project = project
        """The project's name."""
        self._parallel, self._real_time, self._quiet = parallel, real_time, quiet
        given = plugins or kit.plugins
        self._packages = PackageStubs(stubs, given, schemas, kit)
        self._ledger: Ledger | None = None
        if state is not None:
            self._state = state
        elif kit.cloud is None:
            self._state = TestStack(project, name)
        else:
            self._ledger = Ledger.of_test(kit.cloud, kit.test, len(kit.stacks), project, name, given)
            self._state = self._ledger.open()
            self._real_time = True
        self.clock = Clock(self._state)
        """The stack's clock."""
        if world is not None:
            ids_of(world)  # what is no world is found out at once, and not when the test has ended
        self._world = world
        self.runs: list[Run] = []
        """All operations so far that the test asked for, in order."""
        self._calls: list[Call] = []
        self.calls = Calls(self._calls)
        """What providers were asked in these operations."""
        self._faults: list[Fault] = []
        self._left: str | None = None
        self._running: Any = None
        if state is None:
            kit.adopt(self)
        if self._ledger is not None and self._ledger.leftover:
            self._drain()

    def another(self, program: Any, **settings: Any) -> Stack:
        """A stack object on the same state, as somebody else has it who works on the same stack: only one of the two
        may work on it at a time. It is not torn down by itself.

        :param program: as for `maloko.stack`.
        :param settings: as for `maloko.stack`, save `project`, `name` and `real_time`, which are those of this stack.
        """
        other = Stack(
            self._kit,
            program,
            **settings,
            project=self.project,
            name=self.name,
            real_time=self._real_time,
            state=self._state,
        )
        if not settings.keys() & {"stubs", "plugins", "schemas"}:
            other._packages = self._packages
        return other

    # Verbs.

    @property
    def aio(self) -> AsyncVerbs:
        """The verbs to be awaited, under asyncio, trio or anyio: `await s.aio.up()`."""
        return AsyncVerbs(self, self._kit.later)

    def preview(self, **options: Any) -> Plan:
        """Says what `up` would do. Raises what the program or a provider raised.

        :param options: `refresh=True`, `targets=[...]`, `excludes=[...]`, `replace=[...]` (URNs or globs),
            `parallel=4`; `policies=[...]` (policies of `pulumi_policy`, and folders of packs, relative to the test's
            file), `policy_config={...}` as a file of `--policy-pack-config` has it. Another one raises `TypeError`.
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
            self._do("settle", after="up", **{key: options[key] for key in ("targets", "excludes") if key in options})
        return plan

    def refresh(self, **options: Any) -> Plan:
        """Makes the state as the world is, and gives what differed."""
        return self._checked("refresh", options)

    def destroy(self, **options: Any) -> Plan:
        """Removes everything; the program runs first, to bring its provider objects."""
        return self._checked("destroy", options)

    def import_(self, name: str, id_: str) -> Plan:
        """Takes an object that exists over into the state, as the resource of that name in the program."""
        _, run = self._do("import", name=name, id=id_)
        assert run is not None
        return run.plan

    def run(self, verb: str, **options: Any) -> Run:
        """Runs an operation and says how it ended, without raising for a failure."""
        return on_a_free_thread(lambda: self._run(verb, options))

    def assert_settled(self, *, targets: Sequence[str] = (), excludes: Sequence[str] = ()) -> None:
        """Fails unless two more plans, without and with a refresh, are empty; names what keeps changing.

        Their calls are not those of the test: `calls`, `runs` and `history` do not have them.

        :param targets: URNs or globs that the plans are about; all without them.
        :param excludes: URNs or globs that they are not about.
        """
        self._do("settle", targets=list(targets), excludes=list(excludes))

    # What is there.

    def resources(self) -> dict[str, dict[str, Any]]:
        """The resources of the state by name: `type`, `urn`, `id`, `inputs`, `outputs`, `secret` (paths), `parent`,
        `custom`, `protect`. Secrets are in plain text."""
        return {resource["name"]: resource for resource in self._all_resources() if not resource["delete"]}

    def resource(self, name: str) -> dict[str, Any]:
        """The resource of a name in the state. Raises `KeyError` when it has none."""
        states = self.resources()
        if name not in states:
            raise KeyError(f"the state has no resource '{name}'; those that it has: {', '.join(states) or 'none'}")
        return states[name]

    def unresolved_creates(self) -> list[dict[str, str]]:
        """Creates whose outcome is unknown: `urn`, and `reason` (why it is unknown)."""
        unresolved: list[dict[str, str]] = json.loads(self._state.resources())["unresolvedCreates"]
        return unresolved

    def outputs(self, name: str | None = None) -> dict[str, Any]:
        """The outputs of a resource, or, without a name, those of the stack. Secrets are in plain text.

        Raises `KeyError` when the state has no such resource.
        """
        if name is None:
            last = next((run for run in reversed(self.runs) if run.verb in ("up", "refresh")), None)
            return last.outputs if last is not None else {}
        outputs: dict[str, Any] = self.resource(name)["outputs"]
        return outputs

    def id(self, name: str) -> str:
        """The id of a resource's object. Raises `KeyError` when the state has no such resource."""
        return str(self.resource(name)["id"])

    def history(self, name: str) -> History:
        """What a resource was so far; empty for one that never was."""
        return History(**json.loads(self._state.history(name)))

    def snapshot(self) -> Snapshot:
        """The state as text that is the same in every run (no ids, times, secrets), for syrupy."""
        secrets = [*self._secret_texts(), *secret_texts(self.export())]
        return state_snapshot(self.resources(), Redactor(secrets, HIDDEN_IN_SNAPSHOTS))

    def export(self) -> dict[str, Any]:
        """The state as Pulumi's deployment JSON, with secrets in plain text."""
        exported: dict[str, Any] = json.loads(self._state.export())
        return exported

    def restore(self, deployment: Mapping[str, Any]) -> None:
        """Replaces the state by an exported one (of this project and stack)."""
        self._state.restore(json.dumps(deployment).encode(), "the state that the test restores")

    def save_baseline(self, path: str | Path) -> None:
        """Writes the state to a file, for tests of later releases of its providers. Secrets in it are hidden.

        :param path: the file, relative to that of the test.
        """
        ask(
            "save_baseline",
            file=str(self._kit.directory / path),
            deployment=self._state.export(),
            secrets=self._secrets_in_texts(),
            known=self._secret_texts(),
        )

    def upgrade_plan(self, path: str | Path) -> Plan:
        """What `up` would do to a stack that is as in the baseline of that file. The test's own state stays as it is.

        :param path: the file, relative to that of the test.
        """
        file = str(self._kit.directory / path)
        secrets = self._secrets_in_texts()
        deployment = ask("baseline", file=file, secrets=secrets, how="`s.save_baseline(path)`")
        _, run = self._do("plan_from", deployment=deployment, place=file)
        assert run is not None
        return run.plan

    # Checks.

    def imports_cleanly(self, name: str, *, ignore: Sequence[str] = ()) -> None:
        """Fails unless the object, imported by its id into a stack that does not know it, needs no change after that
        and has the id, the inputs and the outputs that it has here.

        :param ignore: properties that may differ, and what is below them, such as a password that nobody can read back.
        """
        self._do("import_cleanly", name=name, ignore=list(ignore))

    def set(self, **values: Any) -> None:
        """Sets inputs, where the stack was made of a provider or a class of resources; else configuration."""
        (self.inputs if self._makes_one else self.config).update(values)

    # Faults.

    def stub(
        self,
        target: Callable[..., Any] | type | None = None,
        method: str | None = None,
        *,
        resource: str | None = None,
        type: str | None = None,  # noqa: A002 the word of Pulumi's for it
        nth: int | None = None,
        raises: Any = NOTHING,
        returns: Any = NOTHING,
        hang: bool = False,
        delay: float | None = None,
        after: bool = False,
    ) -> AbstractContextManager[Fault]:
        """Answers, fails or delays calls of providers, for as long as the context lasts:
        `with s.stub(P.create, raises=...)`, `with s.stub(resource="b*", method="create", hang=True)`.

        :param target: a method of a provider's class (`P.create`), or the class; any provider without one.
        :param method: the provider's method, where `target` does not say it.
        :param resource: a glob that the resource's name matches.
        :param type: a glob that the type token, or its last part, matches.
        :param nth: only this one of the calls that match, from 1.
        :param raises: an exception (or class) that is raised in the place of the call; with `after=True` once it was
            made.
        :param returns: what is returned in its place: a result, or a function of the method's arguments.
        :param hang: there is no answer, until the call's time limit gives it up, or, without one, the run is cancelled.
        :param delay: the call is made only after so many seconds of the stack's clock.
        :param after: the method is called first, and its answer is lost.

        Raises `MalokoError` for what is no method of a provider, and unless exactly one of `raises`, `returns`, `hang`
        and `delay` is given.
        """
        provider, method = (None, method) if target is None else place_of(target, method)
        fault = make_fault(
            resource,
            method,
            type_=type,
            provider=provider,
            nth=nth,
            raises=raises,
            returns=returns,
            hang=hang,
            delay=delay,
            after=after,
        )
        return in_force(self._faults, fault)

    # The end.

    def leave(self, reason: str) -> None:
        """Says that the test leaves what it made, and why: nothing is torn down."""
        self._left = reason

    def cancel(self) -> None:
        """Ends the operation that goes on just now as Ctrl-C does. May be called from a provider method."""
        running = self._running
        if running is not None:
            running.cancel()

    def _secret_texts(self) -> list[str]:
        """The texts that are secret: of the configuration, of `inputs` and `references`, and of the state."""
        found = list(self._secrets_in_texts().values())
        given = [*self.inputs.values(), *(value for outputs in self.references.values() for value in outputs.values())]
        found.extend(value.value for value in given if isinstance(value, Secret) and isinstance(value.value, str))
        for resource in self.resources().values() if self._running is None else ():
            for path in resource["secret"]:
                value = resource["outputs"].get(path, resource["inputs"].get(path))
                if isinstance(value, str):
                    found.append(value)
        return found

    def _secrets_in_texts(self) -> dict[str, str]:
        return {key: text_of(value) for key, value in self.secrets.items()}

    def _all_resources(self) -> list[dict[str, Any]]:
        """Those of the state, with those that wait for their deletion."""
        resources: list[dict[str, Any]] = json.loads(self._state.resources())["resources"]
        return resources

    def _drain(self) -> None:
        """Deletes what a killed run of the test has left."""
        problems = tear_down(self).problems
        if problems:
            raise MalokoError(
                "an earlier run of this test was killed, and what it left is still there: " + "; ".join(problems)
            )

    def _do(self, task: str, **members: Any) -> tuple[Any, Run | None]:
        """Has a task of the engine's side done (`engine-kit/src/task`); gives what it comes to, and its last operation.
        Raises what fails it."""
        follow = self._state.task(json.dumps({"task": task, **members}))
        run: Run | None = None
        failure: BaseException | None = None
        answer: Any = None
        while (request := json.loads(follow.next(json.dumps(answer))))["do"] != "end":
            run, failure = self._attempt(request["order"])
            answer = {"error": None if failure is None else str(failure)}
        if request["outcome"] == "raised" and failure is not None:
            raise failure
        if request["outcome"] == "broken":
            raise AssertionError(request["text"]) from (failure if request["caused"] else None)
        return request["value"], run

    def _attempt(self, order: Mapping[str, Any]) -> tuple[Run | None, BaseException | None]:
        """Runs an operation of a task; gives it, and what it raised."""
        try:
            run = on_a_free_thread(lambda: self._ordered(order["verb"], order))
        except Exception as error:
            return None, error
        failure = run._failure()
        if failure is not None:
            self._kit.failed(self, run, failure)
        return run, failure

    def _checked(self, verb: str, options: Mapping[str, Any]) -> Plan:
        run = on_a_free_thread(lambda: self._run(verb, options))
        failure = run._failure()
        if failure is not None:
            self._kit.failed(self, run, failure)
            raise failure
        return run.plan

    def _run(self, verb: str, options: Mapping[str, Any]) -> Run:
        known = [*_OPTIONS, *(_OF_POLICIES if verb in ("preview", "up") else ())]
        unknown = set(options) - set(known)
        if unknown:
            raise TypeError(f"{verb}() has no option '{min(unknown)}'; those that there are: {', '.join(known)}")
        if "policy_config" in options and not options.get("policies"):
            raise TypeError(f"{verb}() has `policy_config` for no policies: give `policies`, too")
        return self._ordered(verb, self._order_of(verb, options))

    def _order_of(self, verb: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What the engine is told to do, as far as a test says it."""
        told = {_OPTIONS[key]: value for key, value in options.items() if key not in _OF_POLICIES}
        order = {"verb": "up" if verb == "preview" else verb, "preview": verb == "preview", **told}
        if policies := options.get("policies"):
            order["policies"] = Policies(policies, options.get("policy_config"), self._kit.directory)
        return order

    def _ordered(self, verb: str, order: Mapping[str, Any]) -> Run:
        """Does what is ordered, and what the test has in store for its operations."""
        if order.get("aside"):
            return self._execute(verb, order, None)
        if self._kit.over:
            raise MalokoError(
                f"{verb}() came after the end of the test '{self._kit.test}', which has torn the stack down: a stack "
                "is used by the test that makes it"
            )
        return self._kit.around(self, verb, lambda crash: self._execute(verb, order, crash))

    def _execute(self, verb: str, order: Mapping[str, Any], crash: dict[str, Any] | None) -> Run:
        from maloko._run.host import Host

        if self._running is not None:
            raise MalokoError(
                f"{verb}() was called while another operation on this stack goes on; let that one end first, or use "
                "another stack"
            )
        host = Host()
        whole: dict[str, Any] = {
            "time": "real" if self._real_time else "virtual",
            "parallel": self._kit.parallel or self._parallel,
            "config": {
                key: {"value": text_of(value), "secret": secret}
                for secret, values in ((False, self.config), (True, self.secrets))
                for key, value in values.items()
            },
            "references": encode(self.references),
            "faults": [fault.order_for(host) for fault in self._faults],
            "crash": crash,
            "seed": self._kit.seed,
            "page": self._kit.pages is not None,
            **self._packages.order(host),
            **order,
        }
        if isinstance(policies := order.get("policies"), Policies):
            whole["policies"] = policies.order(host)

        def started(run: Any) -> None:
            self._running = run

        try:
            report, exception = execute(self._state, host, whole, self._make, started, self._quiet)
        finally:
            self._running = None
        run = run_of(verb, report, exception)
        self._kit.ran(run)
        if not order.get("aside"):
            self.runs.append(run)
            self._calls.extend(run.calls)
        return run


_OF_POLICIES = ("policies", "policy_config")
"""Options of what runs the program for its resources."""
_OPTIONS = {
    "refresh": "refresh",
    "targets": "targets",
    "excludes": "excludes",
    "replace": "replace",
    "continue_on_error": "continueOnError",
    "update_changed_providers": "updateChangedProviders",
    "ignore_protect": "ignoreProtect",
    "parallel": "parallel",
    "imports": "imports",
}
