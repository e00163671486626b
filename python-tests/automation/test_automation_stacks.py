"""Many stacks: lists of them, which of them others read, and what was done to them by which run."""

import asyncio
import hashlib
import json
from pathlib import Path

import pulumi
import pytest
from automation_kit import Echo, Thing, echo, new_stack, placed

from maloko import automation as auto
from maloko.automation.errors import Reason


def _stack(directory: Path, name: str, program: auto.PulumiFn = echo) -> auto.Stack:
    return auto.create_stack(name, "project", program, opts=placed(directory, work_dir=str(directory / name)))


def _reads(name: str) -> auto.PulumiFn:
    def program() -> None:
        other = pulumi.StackReference(name)
        pulumi.export("text", other.get_output("text"))

    return program


def test_stacks_are_listed_by_the_beginning_of_their_names(tmp_path: Path) -> None:
    for name in ("tenant-1", "tenant-2", "net"):
        stack = _stack(tmp_path, name)
    stack.up()
    listed = {each.name: each for each in stack.workspace.list_stacks()}
    assert list(listed) == ["net", "tenant-1", "tenant-2"]
    assert [each.resource_count for each in listed.values()] == [3, 0, 0]
    assert (listed["net"].current, listed["net"].update_in_progress) == (True, False)
    assert all(each.last_update is not None for each in listed.values())
    of = lambda prefix: [each.name for each in stack.workspace.list_stacks(prefix=prefix)]  # noqa: E731
    assert (of("tenant-"), of("n"), of("none"), len(of(""))) == (["tenant-1", "tenant-2"], ["net"], [], 3)
    everywhere = stack.workspace.list_stacks(include_all=True, prefix="tenant-2")
    assert [each.name for each in everywhere] == ["tenant-2"]


def test_a_list_tells_what_is_there_also_when_the_state_was_written_by_another_tool(tmp_path: Path) -> None:
    stack = _stack(tmp_path, "dev")
    stack.up()
    file = tmp_path / "state/.pulumi/stacks/project/dev.json"
    state = json.loads(file.read_text())
    # As `pulumi` leaves it, with what maloko has kept of its own state still beside it.
    version = "v3.260.0"
    state["checkpoint"]["latest"]["manifest"] |= {
        "time": "2031-02-03T04:05:06.789+01:00",
        "version": version,
        "magic": hashlib.sha256(version.encode()).hexdigest(),
    }
    state["checkpoint"]["latest"]["resources"].pop()
    file.write_text(json.dumps(state))
    (listed,) = stack.workspace.list_stacks()
    assert (listed.resource_count, str(listed.last_update)) == (2, "2031-02-03 03:05:06.789000")


def test_a_stack_tells_which_stacks_it_reads(tmp_path: Path) -> None:
    net = _stack(tmp_path, "net")
    net.up()
    tenant = _stack(tmp_path, "tenant", _reads("organization/project/net"))
    assert tenant.references() == []
    tenant.up()
    assert tenant.references() == ["project/net"]
    assert asyncio.run(tenant.references_async()) == ["project/net"]
    told = tenant.workspace.stack_references(["tenant", "net", "none", "organization/other/none"])
    assert told == {"project/tenant": ["project/net"], "project/net": [], "project/none": [], "other/none": []}
    assert tenant.workspace.stack_references([]) == {}


def test_a_stack_that_is_needed_and_not_there_is_named(tmp_path: Path) -> None:
    for number, (name, needs) in enumerate([("net", "project/net"), ("organization/infra/net-eu", "infra/net-eu")]):
        stack = new_stack(tmp_path / str(number), _reads(name))
        for operation in (stack.preview, stack.up):
            with pytest.raises(auto.CommandError) as raised:
                operation()
            error = raised.value
            assert (error.reason, error.needs, error.reason.may_pass) == (Reason.NEEDS, needs, False)
            assert "there is no stack" in error.text


def test_a_stack_that_a_program_of_its_own_process_needs_is_named(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: project\nruntime: python\n")
    (work / "__main__.py").write_text("import pulumi\npulumi.StackReference('net')\n")
    stack = auto.create_stack("dev", work_dir=str(work), opts=placed(tmp_path, work_dir=str(work)))
    for isolated in (False, True):
        with pytest.raises(auto.CommandError) as raised:
            stack.up(isolated=isolated)
        assert (raised.value.reason, raised.value.needs) == (Reason.NEEDS, "project/net")


def test_the_history_tells_which_run_it_was(tmp_path: Path) -> None:
    def two() -> None:
        echo()
        Thing(Echo(), "b")

    stack = new_stack(tmp_path)
    stack.up(message="by hand")
    variables = stack.workspace.env_vars
    for attempt in (1, 2):
        stack.workspace.env_vars = {**variables, "MALOKO_ATTEMPT": f"tenants:up/1:{attempt}"}
        stack.up(message=f"for all, {attempt}", program=two)
    told = stack.history()
    names = ("maloko.run", "maloko.attempt")
    of_run = [(each.message, *(each.environment.get(name) for name in names)) for each in told]
    run = "tenants:up/1"
    assert of_run == [("for all, 2", run, "2"), ("for all, 1", run, "1"), ("by hand", None, None)]
    # A page is of what the run did, whatever came after it.
    stack.workspace.env_vars = variables
    stack.up(message="by hand, later", program=echo)
    workspace = stack.workspace
    listed = workspace.pulumi_command.run(
        ["stack", "history", "--json", "--run", run, "--page-size", "1", "--stack", "dev"],
        workspace.work_dir,
        variables,
    )
    assert [(each["version"], each["message"]) for each in json.loads(listed.stdout)] == [(3, "for all, 2")]
