"""The pages of runs from the automation API: of results, and in files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi.automation as official
import pytest
from automation_kit import new_stack, placed
from pages import data_of

from maloko import automation as auto


def names(data: dict[str, Any]) -> set[str]:
    return {resource["name"] for resource in data["resources"]}


def test_a_result_has_the_page_of_its_run(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    preview, up, refresh = stack.preview(), stack.up(message="first"), stack.refresh()
    # The stack is gone with its history, and the page is there.
    destroy = stack.destroy(remove=True)
    runs = [("preview", preview), ("update", up), ("refresh", refresh), ("destroy", destroy)]
    for kind, result in runs:
        page = result.page()
        data = data_of(page)
        assert (data["run"]["kind"], data["run"]["outcome"]) == (kind, "succeeded")
        assert data["run"]["dryRun"] == (kind == "preview")
        assert "echo" in names(data)
        assert "hush" not in page
    assert data_of(up.page())["run"]["message"] == "first"
    assert data_of(up.page())["run"]["changes"] == up.summary.resource_changes
    calls = {call["name"] for call in data_of(up.page())["run"]["activities"] if call["kind"] == "call"}
    assert "create" in calls
    # It is no member that results are shown by.
    assert isinstance(up, official.UpResult)
    assert "<script" not in repr(up)
    assert set(vars(up)) == {"stdout", "stderr", "outputs", "summary"}


def test_previews_of_other_operations_have_their_pages(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    stack.up()
    for kind, result in (("refresh", stack.preview_refresh()), ("destroy", stack.preview_destroy())):
        run = data_of(result.page())["run"]
        assert (run["kind"], run["dryRun"]) == (kind, True)
    assert len(stack.history()) == 1


def test_an_operation_writes_its_page_to_a_file(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    work = Path(stack.workspace.work_dir)
    stack.preview(page="preview.html")
    stack.up(page=str(tmp_path / "up.html"))
    stack.preview_refresh(page="preview-refresh.html")
    stack.refresh(page="refresh.html")
    stack.preview_destroy(page="preview-destroy.html")
    stack.destroy(page="destroy.html")
    written = {
        work / "preview.html": ("preview", True),
        tmp_path / "up.html": ("update", False),
        work / "preview-refresh.html": ("refresh", True),
        work / "refresh.html": ("refresh", False),
        work / "preview-destroy.html": ("destroy", True),
        work / "destroy.html": ("destroy", False),
    }
    for file, (kind, dry) in written.items():
        run = data_of(file.read_text())["run"]
        assert (run["kind"], run["dryRun"], run["outcome"]) == (kind, dry, "succeeded"), file


def test_an_operation_that_fails_writes_its_page_to_a_file(tmp_path: Path) -> None:
    def program() -> None:
        raise OverflowError("too much")

    stack = new_stack(tmp_path, program)
    with pytest.raises(auto.CommandError):
        stack.up(page="up.html")
    data = data_of(Path(stack.workspace.work_dir, "up.html").read_text())
    assert data["run"]["outcome"] == "failed"
    assert any("too much" in said["message"] for said in data["run"]["diagnostics"])


LOCAL = """
import pulumi
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider

class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

    def read(self, id_, props):
        return ReadResult(id_, {"text": "read", **props})

class Thing(Resource):
    def __init__(self, name, text, opts=None):
        super().__init__(Provider(), name, {"text": text}, opts)

Thing("echo", "there")
"""


class Silent:
    """A command of the caller's own that runs nothing."""

    command = "silent"
    version = None

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: auto.OnOutput | None = None,
        on_error: auto.OnOutput | None = None,
    ) -> auto.CommandResult:
        return auto.CommandResult(stdout="", stderr="", code=0)


def local(directory: Path, **options: Any) -> auto.Stack:
    work = directory / "local"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: local\nruntime: python\n")
    (work / "__main__.py").write_text(LOCAL)
    return auto.create_or_select_stack("dev", work_dir=str(work), opts=placed(directory, **options))


def test_results_of_a_local_program_have_their_pages(tmp_path: Path) -> None:
    stack = local(tmp_path)
    for kind, result in (("preview", stack.preview()), ("update", stack.up(page="up.html"))):
        data = data_of(result.page())
        assert (data["run"]["kind"], "echo" in names(data)) == (kind, True)
    assert data_of((tmp_path / "local" / "up.html").read_text())["run"]["kind"] == "update"


def test_an_import_has_its_page(tmp_path: Path) -> None:
    stack = local(tmp_path)
    stack.up()
    resource: Any = {"type": "pulumi-python:dynamic:Resource", "name": "echo", "id": "made"}
    stack.destroy()
    result = stack.import_resources(resources=[resource], protect=False, generate_code=False, page="import.html")
    for page in (result.page(), (tmp_path / "local" / "import.html").read_text()):
        data = data_of(page)
        assert (data["run"]["kind"], "echo" in names(data)) == ("import", True)


def test_a_command_of_the_caller_s_own_that_runs_nothing_leaves_no_page(tmp_path: Path) -> None:
    result = local(tmp_path, pulumi_command=Silent()).preview()
    with pytest.raises(LookupError, match="nothing was kept of the run for its page"):
        result.page()
