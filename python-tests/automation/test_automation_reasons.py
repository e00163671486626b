"""Why an operation failed, as a program goes on by it: a reason, a line of text, and who holds the stack."""

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from automation_kit import Echo, Thing, echo, new_stack, placed
from pulumi import ResourceOptions
from pulumi.dynamic import CheckFailure, CheckResult, CreateResult, ResourceProvider

from maloko import PartialFailure, TryLater
from maloko import automation as auto
from maloko.automation.errors import Reason


class Refusing(Echo):
    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        return CheckResult(news, [CheckFailure("text", "too short")])


class Failing(Echo):
    def create(self, props: dict[str, Any]) -> CreateResult:
        raise OSError(f"no room for {props['text']}")


def _failure_of(operation: Callable[[], object]) -> auto.CommandError:
    with pytest.raises(auto.CommandError) as raised:
        operation()
    return raised.value


def _one(provider: ResourceProvider, **options: Any) -> Callable[[], None]:
    return lambda: void(Thing(provider, "a", {"text": "it"}, opts=ResourceOptions(**options)))


def void(_value: object) -> None:
    pass


def test_what_a_provider_or_the_program_does_is_told_apart(tmp_path: Path) -> None:
    def raises() -> None:
        raise KeyError("plan")

    for number, (program, reason, text) in enumerate(
        [
            (_one(Failing()), Reason.PROVIDER, "no room for it"),
            (_one(Refusing()), Reason.INPUTS, "text is not valid: too short"),
            (raises, Reason.PROGRAM, "KeyError: 'plan'"),
        ]
    ):
        stack = new_stack(tmp_path / str(number), program)
        error = _failure_of(stack.up)
        assert (error.reason, error.holder) == (reason, None)
        assert text in error.text
        assert "\n" not in error.text
        assert not error.reason.may_pass


def test_what_is_protected_or_not_expected_is_told_apart(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, _one(Echo(), protect=True))
    stack.up()
    assert _failure_of(stack.destroy).reason == "protected"

    def two() -> None:
        _one(Echo(), protect=True)()
        Thing(Echo(), "b")

    stack.workspace.program = two
    assert _failure_of(lambda: stack.up(expect_no_changes=True)).reason is Reason.UNEXPECTED_CHANGES


def test_stacks_that_are_missing_or_there_already_have_classes_of_their_own(tmp_path: Path) -> None:
    new_stack(tmp_path)
    there = _failure_of(lambda: new_stack(tmp_path))
    assert (type(there), there.reason) == (auto.StackAlreadyExistsError, Reason.STACK_EXISTS)
    missing = _failure_of(lambda: auto.select_stack("prod", "project", echo, opts=placed(tmp_path)))
    assert (type(missing), missing.reason) == (auto.StackNotFoundError, Reason.NO_STACK)


def test_keys_states_backends_and_settings_are_told_apart(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, lambda: echo())
    stack.up()
    variables = stack.workspace.env_vars

    def failed_with(**other: str) -> auto.CommandError:
        stack.workspace.env_vars = {**variables, **other}
        try:
            return _failure_of(stack.refresh)
        finally:
            stack.workspace.env_vars = variables

    assert failed_with(PULUMI_CONFIG_PASSPHRASE="wrong").reason is Reason.KEY
    away = failed_with(PULUMI_BACKEND_URL="postgres://nobody@127.0.0.1:1/none")
    assert (away.reason, away.reason.may_pass) == (Reason.BACKEND, True)
    assert failed_with(MALOKO_ATTEMPT="two").reason is Reason.CONFIGURATION
    (file,) = (tmp_path / "state").glob(".pulumi/stacks/project/dev.json")
    file.write_text(file.read_text()[:-20])
    assert failed_with().reason is Reason.DAMAGED


class Running:
    """An `up` that is in a `create` until it is told to go on."""

    def __init__(self, directory: Path, **options: Any) -> None:
        began, finish = threading.Event(), threading.Event()
        self.finish = finish
        self.ends: list[auto.CommandError] = []

        class Slow(Echo):
            def create(self, props: dict[str, Any]) -> CreateResult:
                began.set()
                assert finish.wait(60)
                return super().create(props)

        self.stack = new_stack(directory, _one(Slow()), **options)
        self._thread = threading.Thread(target=lambda: self.ends.append(_failure_of(self.stack.up)))
        self._thread.start()
        assert began.wait(60)

    def end(self) -> auto.CommandError:
        """Why it failed."""
        self.finish.set()
        self._thread.join()
        return self.ends[0]


def test_who_holds_a_stack_is_told_with_its_attempt(tmp_path: Path) -> None:
    running = Running(tmp_path, env_vars={"MALOKO_ATTEMPT": "tenants:up/dev:3"})
    stack = running.stack
    refused = _failure_of(stack.up)
    holder = refused.holder
    assert (type(refused), refused.reason) == (auto.ConcurrentUpdateError, Reason.LOCKED)
    assert refused.reason.may_pass
    assert holder is not None
    assert (holder.operation, holder.run, holder.attempt) == ("maloko up", "tenants:up/dev", 3)
    assert (holder.pid > 0, holder.host != "", holder.since[:2]) == (True, True, "20")
    assert "attempt 3 at 'tenants:up/dev'" in refused.text
    # What goes to other processes says the same.
    other = pickle.loads(pickle.dumps(refused))
    assert (other.reason, other.text, other.holder) == (refused.reason, refused.text, holder)
    # Somebody takes the stack from it: the run ends, whatever comes of its call.
    workspace = stack.workspace
    workspace.pulumi_command.run(["cancel", "--yes", "--stack", "dev"], workspace.work_dir, workspace.env_vars)
    lost = running.end()
    assert (lost.reason, lost.reason.may_pass) == (Reason.LEASE_LOST, True)


def test_a_run_that_is_stopped_says_so(tmp_path: Path) -> None:
    running = Running(tmp_path)
    running.stack.cancel()
    stopped = running.end()
    assert (stopped.reason, stopped.code, stopped.reason.may_pass) == (Reason.CANCELLED, 8, False)


_MAKES = """
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Echo(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

class Thing(Resource):
    pass

Thing(Echo(), "a", {})
"""


def test_a_program_in_a_process_of_its_own_tells_the_same(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (work / "__main__.py").write_text("import pulumi\nraise KeyError(pulumi.Config().require('plan'))\n")
    stack = auto.create_stack("dev", work_dir=str(work), opts=placed(tmp_path, work_dir=str(work)))
    unset = _failure_of(stack.up)
    assert (unset.reason, "plan" in unset.text) == (Reason.PROGRAM, True)
    stack.set_config("plan", auto.ConfigValue("gold"))
    assert "KeyError: 'gold'" in _failure_of(stack.up).text
    (work / "__main__.py").write_text(_MAKES)
    assert _failure_of(lambda: stack.preview(expect_no_changes=True)).reason is Reason.UNEXPECTED_CHANGES
    stack.workspace.env_vars = {**stack.workspace.env_vars, "PULUMI_CONFIG_PASSPHRASE": "wrong"}
    # It has not begun.
    assert _failure_of(stack.up).reason is Reason.KEY


class Busy(TryLater):
    """A service's own word for it."""

    def __init__(self) -> None:
        super().__init__("7.5", "429: too many requests")


class Asking(Echo):
    retryable_errors = (TimeoutError, ConnectionError)

    def __init__(self, error: Exception, method: str) -> None:
        self.error = error
        self.method = method

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        return CheckResult(self._ask("check", news), [])

    def create(self, props: dict[str, Any]) -> CreateResult:
        return super().create(self._ask("create", props))

    def _ask(self, method: str, props: dict[str, Any]) -> dict[str, Any]:
        if method == self.method:
            raise self.error
        return props


def test_a_provider_says_whether_its_failure_may_pass(tmp_path: Path) -> None:
    busy = Busy()
    for number, (error, method, transient, wait) in enumerate(
        [
            (busy, "create", True, 7.5),
            (busy, "check", True, 7.5),
            (TryLater(-1), "create", True, 0.0),
            # A subclass of one that is declared.
            (ConnectionResetError("gone"), "create", True, None),
            (LookupError("nowhere"), "create", False, None),
            (PartialFailure("id"), "create", False, None),
        ]
    ):
        stack = new_stack(tmp_path / str(number), _one(Asking(error, method)))
        failure = _failure_of(stack.up)
        assert (failure.transient, failure.retry_after) == (transient, wait), error
        assert (failure.reason, failure.method, failure.__cause__) == (Reason.PROVIDER, method, error)
        other = pickle.loads(pickle.dumps(failure))
        assert (other.transient, other.retry_after) == (transient, wait)
    assert (str(busy), str(TryLater(2))) == ("429: too many requests", "the service asks to be tried again in 2 s")
    copy = pickle.loads(pickle.dumps(TryLater(3, "wait")))
    assert (copy.seconds, str(copy)) == (3.0, "wait")


def test_what_is_no_class_of_errors_is_refused_when_the_provider_is_used(tmp_path: Path) -> None:
    class Wrong(Echo):
        retryable_errors = ("TimeoutError",)

    failure = _failure_of(new_stack(tmp_path, _one(Wrong())).up)
    assert failure.reason is Reason.PROGRAM
    assert "retryable_errors" in str(failure)


_ASKS_LATER = """
import maloko
from pulumi.dynamic import Resource, ResourceProvider

class Busy(ResourceProvider):
    def create(self, props):
        raise maloko.TryLater(30, "429")

class Thing(Resource):
    pass

Thing(Busy(), "a", {})
"""


@pytest.mark.parametrize("isolated", [False, True])
def test_a_provider_in_a_process_of_its_own_says_when_to_try_again(tmp_path: Path, isolated: bool) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (work / "__main__.py").write_text(_ASKS_LATER)
    stack = auto.create_stack("dev", work_dir=str(work), opts=placed(tmp_path, work_dir=str(work)))
    failure = _failure_of(lambda: stack.up(isolated=isolated))
    assert (failure.transient, failure.retry_after, failure.reason) == (True, 30.0, Reason.PROVIDER)
    assert "429" in failure.text
