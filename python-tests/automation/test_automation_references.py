"""Which stacks a stack reads, as its state has it, the error for one that does not exist, and the run that a history's entry is of."""

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest
from automation_kit import echo, new_stack, placed

from maloko import automation as auto
from maloko.automation.errors import Reason

NET = "organization/net/prod"


def refers() -> None:
    pulumi.export("text", pulumi.StackReference(NET).get_output("text"))


def make_net(directory: Path) -> None:
    auto.create_stack("prod", "net", echo, opts=placed(directory, work_dir=str(directory / "net"))).up()


def _failure_of(operation: Callable[[], object]) -> auto.CommandError:
    with pytest.raises(auto.CommandError) as raised:
        operation()
    return raised.value


def test_a_stack_that_the_program_refers_to_and_that_is_missing_is_named(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, refers)
    for operation in (stack.preview, stack.up):
        error = _failure_of(operation)
        assert (error.reason, error.needs, error.reason.may_pass) == (Reason.NEEDS, "net/prod", False)
        assert f"the stack '{NET}' cannot be read: there is no stack '{NET}' in " in error.text
        assert pickle.loads(pickle.dumps(error)).needs == "net/prod"
    make_net(tmp_path)
    assert stack.up().outputs["text"].value == "none"
    # A failure of another kind names none.
    stack.workspace.env_vars = {**stack.workspace.env_vars, "PULUMI_CONFIG_PASSPHRASE": "wrong"}
    assert _failure_of(stack.up).needs is None


def test_a_program_in_a_process_of_its_own_names_the_missing_stack_too(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (work / "__main__.py").write_text(f"import pulumi\npulumi.StackReference({NET!r})\n")
    stack = auto.create_stack("dev", work_dir=str(work), opts=placed(tmp_path, work_dir=str(work)))
    for isolated in ("false", "true"):
        stack.set_config("maloko:isolated", auto.ConfigValue(isolated))
        error = _failure_of(stack.up)
        assert (error.reason, error.needs) == (Reason.NEEDS, "net/prod")


def test_references_are_those_of_the_last_run(tmp_path: Path) -> None:
    make_net(tmp_path)
    stack = new_stack(tmp_path, refers)
    assert stack.references() == []
    stack.up()
    assert stack.references() == ["net/prod"]
    assert asyncio.run(stack.references_async()) == ["net/prod"]
    stack.workspace.remove_stack("dev", force=True)
    assert stack.references() == []


def test_the_history_says_of_which_run_an_entry_is_and_keeps_the_message(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, echo, env_vars={"MALOKO_ATTEMPT": "tenants:7:2"})
    stack.up(message="the first one")
    workspace = stack.workspace
    workspace.env_vars = {name: text for name, text in workspace.env_vars.items() if name != "MALOKO_ATTEMPT"}
    stack.refresh(message="by hand")

    def listed(*flags: str) -> str:
        words = ["stack", "history", "--stack", "dev", *flags]
        return workspace.pulumi_command.run(words, workspace.work_dir, workspace.env_vars).stdout

    assert [entry.message for entry in stack.history()] == ["by hand", "the first one"]
    of_run = listed("--run", "tenants:7")
    assert ("Version: 1\n" in of_run, "Message: the first one\n" in of_run, "by hand" in of_run) == (True, True, False)
    assert ("maloko.run: tenants:7\n" in of_run, "maloko.attempt: 2\n" in of_run) == (True, True)
    assert '"maloko.attempt": "2"' in listed("--run", "tenants:7", "--json")
    assert "maloko.run" not in listed("--json", "--page-size", "1")
    assert listed("--run", "tenants") == "The stack's history has nothing of the run 'tenants'\n"
