"""The automation API when something goes wrong, or is ended: errors, signals, others on the stack."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pulumi.automation as official
import pytest
from automation_kit import Echo, Thing, echo, new_stack, placed, urn
from night import rounds
from pulumi.dynamic import CreateResult, ResourceProvider

from maloko import automation as auto


def test_what_a_listener_throws_comes_after_the_end(tmp_path: Path) -> None:
    boom = ValueError("boom")

    def on_output(_line: str) -> None:
        raise boom

    stack = new_stack(tmp_path)
    with pytest.raises(ValueError, match="boom") as raised:
        stack.up(on_output=on_output)
    assert raised.value is boom
    assert stack.up().summary.resource_changes == {"same": 2}


class QuotaExceededError(Exception):
    pass


def test_the_error_of_a_provider_is_the_cause(tmp_path: Path) -> None:
    boom = QuotaExceededError("too many")

    class Failing(ResourceProvider):
        def create(self, props: Any) -> CreateResult:
            raise boom

    def program() -> None:
        Thing(Failing(), "a")

    stack = new_stack(tmp_path, program)
    with pytest.raises(auto.CommandError) as raised:
        stack.up()
    error = raised.value
    assert isinstance(error, official.CommandError)
    assert error.__cause__ is boom
    assert error.exception is boom
    assert (error.urn, error.method, error.code) == (urn("a"), "create", 1)
    assert _functions(boom)[-1] == "create"
    assert "QuotaExceededError: too many" in error.stdout
    assert "QuotaExceededError: too many" in str(error)
    last = stack.info()
    assert last is not None
    assert last.result == "failed"
    # Workers of a queue hand errors to another process.
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.urn, copy.method, str(copy)) == (type(error), error.urn, error.method, str(error))


def test_a_stack_without_resources_is_destroyed_and_refreshed_without_its_program(tmp_path: Path) -> None:
    runs: list[int] = []

    def program() -> None:
        runs.append(1)
        raise ValueError("there is nothing to read")

    stack = new_stack(tmp_path, program)
    for result in (stack.destroy(), stack.refresh()):
        assert "there is nothing to read" not in result.stdout
    assert not runs


def _functions(error: BaseException) -> list[str]:
    names, traceback = [], error.__traceback__
    while traceback is not None:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return names


def test_the_error_of_a_program_is_the_cause(tmp_path: Path) -> None:
    boom = QuotaExceededError("too many")

    def program() -> None:
        raise boom

    with pytest.raises(auto.InlineSourceRuntimeError) as raised:
        new_stack(tmp_path, program).preview()
    assert raised.value.__cause__ is boom
    assert (raised.value.urn, raised.value.method) == (None, None)
    assert "QuotaExceededError: too many" in raised.value.stdout


def test_an_error_that_nobody_catches_fails_its_own_run_only(tmp_path: Path) -> None:
    boom = QuotaExceededError("too many")

    def bad() -> None:
        def fail(_text: str) -> None:
            raise boom

        Thing(Echo(), "a", {"text": "x"}).text.apply(fail)

    failed = new_stack(tmp_path / "bad", bad)
    good = new_stack(tmp_path / "good")
    results: list[auto.UpResult] = []
    other = threading.Thread(target=lambda: results.append(good.up()))
    other.start()
    with pytest.raises(auto.CommandError) as raised:
        failed.up()
    other.join()
    assert raised.value.__cause__ is boom
    assert [result.summary.result for result in results] == ["succeeded"]


def test_a_program_that_ends_the_process_fails_its_own_run_only(tmp_path: Path) -> None:
    def program() -> None:
        raise SystemExit(3)

    with pytest.raises(auto.CommandError, match=r"the program ended with sys\.exit\(3\)"):
        new_stack(tmp_path, program).up()


def test_changes_that_nobody_expects_are_an_error(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    with pytest.raises(auto.CommandError) as raised:
        stack.preview(expect_no_changes=True)
    assert raised.value.code == 7
    stack.up()
    assert stack.up(expect_no_changes=True).summary.resource_changes == {"same": 2}


@pytest.fixture
def interrupts_heard() -> Iterator[None]:
    """A process that was started in the background may have inherited deaf ears."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_heard")
def test_a_signal_ends_an_operation_gracefully(tmp_path: Path) -> None:
    class Interrupted(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            os.kill(os.getpid(), signal.SIGINT)
            return super().create(props)

    def program() -> None:
        first = Thing(Interrupted(), "a", {"text": "1"})
        Thing(Echo(), "b", {"text": first.text})

    stack = new_stack(tmp_path, program)
    with pytest.raises(KeyboardInterrupt):
        stack.up()
    names = [resource["urn"].rsplit("::", 1)[1] for resource in stack.export_stack().deployment["resources"]]
    assert "a" in names, "the call in flight was waited for"
    assert "b" not in names
    assert stack.workspace.list_stacks()[0].update_in_progress is False


# In Python alone: signals and sys.exit are exceptions, which have a class and can be caught
@pytest.mark.usefixtures("interrupts_heard")
def test_a_signal_in_the_program_ends_a_destroy(tmp_path: Path) -> None:
    interrupts: list[bool] = []

    def program() -> None:
        Thing(Echo(), "a")
        if interrupts:
            os.kill(os.getpid(), signal.SIGINT)

    stack = new_stack(tmp_path, program)
    stack.up()
    interrupts.append(True)
    with pytest.raises(KeyboardInterrupt):
        stack.destroy()
    assert len(stack.export_stack().deployment["resources"]) == 3, "nothing was deleted"


def test_cancel_ends_what_this_process_does_to_the_stack(tmp_path: Path) -> None:
    options = placed(tmp_path)
    others: list[auto.Stack] = []

    class Cancelling(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            others[0].cancel()
            return super().create(props)

    def program() -> None:
        first = Thing(Cancelling(), "a", {"text": "1"})
        Thing(Echo(), "b", {"text": first.text})

    stack = auto.create_stack("dev", "project", program, opts=options)
    others.append(auto.select_stack("dev", "project", program, opts=options))
    with pytest.raises(auto.CommandError) as raised:
        stack.up()
    assert raised.value.code == 8
    names = [resource["urn"].rsplit("::", 1)[1] for resource in stack.export_stack().deployment["resources"]]
    assert "a" in names, "what was in flight is recorded"
    assert "b" not in names
    stack.cancel()


def test_a_stack_that_is_worked_on_is_refused_to_others(tmp_path: Path) -> None:
    began, finish = threading.Event(), threading.Event()

    class Slow(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            began.set()
            assert finish.wait(60)
            return super().create(props)

    def program() -> None:
        Thing(Slow(), "a")

    stack = new_stack(tmp_path, program)
    results: list[auto.UpResult] = []
    first = threading.Thread(target=lambda: results.append(stack.up()))
    first.start()
    assert began.wait(60)
    with pytest.raises(auto.ConcurrentUpdateError) as refused:
        stack.up()
    assert refused.value.code == 10

    def told(text: str) -> None:
        if "waiting for 240 s at most" in text:
            finish.set()

    # It waits for the first one, which ends when that is told.
    results.append(stack.up(lock_timeout="4m", on_error=told))
    first.join()
    assert [result.summary.result for result in results] == ["succeeded", "succeeded"]


def test_what_only_pulumi_cloud_can_do_is_an_error_of_its_own(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    for asked in [
        lambda: stack.add_environments("prod"),
        lambda: stack.list_environments(),
        lambda: stack.workspace.org_get_default(),
        lambda: auto.select_remote_stack_git_source("dev", "https://example.com/x.git"),
    ]:
        with pytest.raises(auto.UnsupportedError):
            asked()
    with pytest.warns(UserWarning, match="log_verbosity has no effect"):
        stack.preview(log_verbosity=3)
    with pytest.raises(auto.CommandError, match=r"nowhere has no PulumiPolicy\.yaml"):
        stack.up(policy_packs=["nowhere"])
    with pytest.raises(auto.UnsupportedError, match="new: ai"):
        stack.workspace.new(ai="a queue", stack="dev")
    assert auto.fully_qualified_stack_name("organization", "project", "dev") == "organization/project/dev"


def test_wrong_arguments_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="either `project_name` and `program`"):
        auto.create_stack("dev")
    with pytest.raises(auto.CommandError, match=r"Pulumi\.yaml"):
        new_stack(tmp_path, project_settings=auto.ProjectSettings(name="bad name!", runtime="python"))
    stack = new_stack(tmp_path / "good")
    for given in ("[]", '{"a": {"value": "kept"}, "b": {}}', '{"a": {"value": 1}}'):
        with pytest.raises(ValueError, match="set_all_config_json: "):
            stack.set_all_config_json(given)
    wrong: Any
    for wrong in ("bug", {"value": "bug"}):
        with pytest.raises(TypeError, match=r"the value of 'k' is .*bug.*; it must be a ConfigValue"):
            stack.set_config("k", wrong)
        with pytest.raises(TypeError, match=r"the value of 'k' is .*bug.*; it must be a ConfigValue"):
            stack.set_all_config({"k": wrong})
    wrong = auto.ConfigValue(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"the value of 'k' is ConfigValue\(3\), which is no text"):
        stack.set_config("k", wrong)
    assert stack.get_all_config() == {}
    wrong = "urn:pulumi:one"
    with pytest.raises(TypeError, match=r"target takes a list, and 'urn:pulumi:one' is a text: write target=\["):
        stack.up(target=wrong)
    with pytest.raises(TypeError, match=r"`program` must be a function without arguments, and is 'main\.py'"):
        auto.create_stack("dev", "project", "main.py")  # type: ignore[arg-type]
    with pytest.raises(auto.UnsupportedError, match="pulumi_command"):
        auto.LocalWorkspace(pulumi_command=official.PulumiCommand.__new__(official.PulumiCommand))


def test_a_stack_that_several_make_at_once_is_made_once(tmp_path: Path) -> None:
    callers = rounds(4, 6)
    meeting = threading.Barrier(callers)

    def made(make: Any, name: str, number: int) -> str:
        options = placed(tmp_path, work_dir=str(tmp_path / f"work-{number}"))
        meeting.wait(60)
        try:
            return str(make(name, "project", echo, opts=options).name)
        except auto.StackAlreadyExistsError:
            return "there is one"

    with ThreadPoolExecutor(callers) as pool:
        created = list(pool.map(lambda number: made(auto.create_stack, "one", number), range(callers)))
        selected = list(pool.map(lambda number: made(auto.create_or_select_stack, "two", number), range(callers)))
    assert sorted(created) == ["one"] + ["there is one"] * (callers - 1)
    assert selected == ["two"] * callers


def test_an_inline_program_that_ends_the_process_well_has_registered_all_that_it_wants(tmp_path: Path) -> None:
    def program() -> None:
        Thing(Echo(), "a")
        sys.exit(0)

    assert new_stack(tmp_path, program).up().summary.resource_changes == {"create": 2}
