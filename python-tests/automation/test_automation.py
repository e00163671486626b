"""Programs of the official Automation API, with only the import changed."""

import inspect
import json
import os
import threading
import typing
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pulumi
import pulumi.automation as official
import pytest
from automation_kit import Echo, Thing, echo, new_stack, placed, urn
from collector import collector
from pulumi.dynamic import CreateResult, ReadResult

from maloko import automation as auto


def test_a_stack_is_made_and_its_outputs_are_read(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    result = stack.up(message="first")
    values = {name: (output.value, output.secret) for name, output in result.outputs.items()}
    assert values == {"text": ("none", False), "hidden": ("hush", True), "list": ([1, "two"], False)}
    assert {name: output.value for name, output in stack.outputs().items()} == {n: v for n, (v, _) in values.items()}
    summary = result.summary
    assert (summary.kind, summary.result, summary.message, summary.version) == ("update", "succeeded", "first", 1)
    assert summary.resource_changes == {"create": 2}
    assert isinstance(summary.start_time, datetime)
    assert summary.end_time is not None
    assert summary.end_time >= summary.start_time
    assert "2 created" in result.stdout
    assert "hush" not in result.stdout + result.stderr
    # The same types, so that annotations and isinstance of migrated programs hold.
    assert isinstance(stack, official.Stack)
    assert isinstance(stack.workspace, official.LocalWorkspace)
    assert isinstance(result, official.UpResult)
    assert isinstance(summary, official.UpdateSummary)
    assert isinstance(result.outputs["text"], official.OutputValue)


def test_a_stack_is_made_once_and_selected_afterwards(tmp_path: Path) -> None:
    options = placed(tmp_path)
    with pytest.raises(auto.StackNotFoundError) as missing:
        auto.select_stack("dev", "project", echo, opts=options)
    assert isinstance(missing.value, official.StackNotFoundError)
    auto.create_or_select_stack("dev", "project", echo, opts=options).up()
    again = auto.create_or_select_stack("dev", "project", echo, opts=options)
    assert again.up().summary.resource_changes == {"same": 2}
    with pytest.raises(auto.StackAlreadyExistsError):
        auto.create_stack("dev", "project", echo, opts=options)
    assert auto.select_stack("dev", "project", echo, opts=options).name == "dev"
    (listed,) = again.workspace.list_stacks()
    assert (listed.name, listed.current, listed.resource_count) == ("dev", True, 3)
    assert isinstance(listed.last_update, datetime)
    current = again.workspace.stack()
    assert current is not None
    assert current.name == "dev"
    assert not (Path(again.workspace.work_dir) / ".maloko").exists(), "the user's selection is not ours to change"


def test_a_preview_counts_what_would_be_done(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    preview = stack.preview()
    assert isinstance(preview, official.PreviewResult)
    assert preview.change_summary == {"create": 2}
    assert preview.change_summary[auto.OpType.CREATE] == 2
    assert "2 to create" in preview.stdout
    assert stack.history() == []
    stack.up()
    assert stack.preview().change_summary == {"same": 2}
    assert stack.preview_refresh().change_summary == {"same": 2}
    assert stack.preview_destroy().change_summary == {"delete": 2}
    assert stack.up().summary.resource_changes == {"same": 2}


def test_a_destroy_leaves_out_what_is_protected_where_that_is_asked_for(tmp_path: Path) -> None:
    def program() -> None:
        Thing(Echo(), "kept", {"text": "a"}, opts=pulumi.ResourceOptions(protect=True))
        Thing(Echo(), "left", {"text": "a"}, opts=pulumi.ResourceOptions(retain_on_delete=True))

    stack = new_stack(tmp_path, program)
    stack.up()
    assert stack.preview_destroy(exclude_protected=True).change_summary == {"retain": 1, "same": 2}
    assert stack.destroy(exclude_protected=True).summary.resource_changes == {"retain": 1, "same": 2}
    assert [resource["urn"].split("::")[-1] for resource in stack.export_stack().deployment["resources"]][-1] == "kept"


def test_outputs_and_summary_are_left_out_where_nobody_wants_them(tmp_path: Path) -> None:
    asked: list[str] = []

    class Noting(auto.PulumiCommand):
        def run(self, args: list[str], *rest: Any, **named: Any) -> auto.CommandResult:
            asked.append(" ".join(args[:2]))
            return super().run(args, *rest, **named)

    stack = new_stack(tmp_path, pulumi_command=Noting())
    asked.clear()
    up = stack.up(outputs=False, summary=False)
    refreshed = stack.refresh(summary=False)
    destroyed = stack.destroy(summary=False)
    assert asked == ["up --yes", "refresh --yes", "destroy --yes"]
    # What the type has no word for.
    none: list[Any] = [up.summary, refreshed.summary, destroyed.summary]
    assert none == [None, None, None]
    assert up.outputs == {}
    assert (up.changes, refreshed.changes, destroyed.changes) == ({"create": 2}, {"same": 2}, {"delete": 2})
    assert "2 created" in up.stdout
    with_summary = stack.up(outputs=False)
    assert (with_summary.outputs, with_summary.summary.resource_changes) == ({}, with_summary.changes)
    assert stack.up(summary=False).outputs["text"].value == "none"


def test_refresh_and_destroy_run_the_inline_program(tmp_path: Path) -> None:
    deleted: list[str] = []

    class Drifting(Echo):
        def read(self, id_: str, _props: Any) -> ReadResult:
            return ReadResult(id_, {"text": "drifted"})

        def delete(self, id_: str, _props: Any) -> None:
            deleted.append(id_)

    def program() -> None:
        Thing(Drifting(), "a", {"text": "wanted"})

    stack = new_stack(tmp_path, program)
    stack.up()
    assert stack.refresh().summary.kind == "refresh"
    deployment = stack.export_stack().deployment
    assert deployment["resources"][-1]["outputs"]["text"] == "drifted"
    summary = stack.destroy(remove=True).summary
    assert (summary.kind, summary.resource_changes) == ("destroy", {"delete": 2})
    assert deleted == ["made"]
    assert stack.workspace.list_stacks() == []


def test_configuration_is_set_and_read(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    value = auto.ConfigValue
    stack.set_config("text", value("plain"))
    stack.set_config("token", value("--hush", secret=True))
    stack.set_config("deep.list[0]", value("first"), path=True)
    stack.set_all_config({"one": value("1"), "two": value("a=b", secret=True), "other:key": value("x")})
    token = stack.get_config("token")
    assert (token.value, token.secret) == ("--hush", True)
    assert stack.get_config("deep.list[0]", path=True).value == "first"
    keys = {"other:key", "project:deep", "project:one", "project:text", "project:token", "project:two"}
    assert set(stack.get_all_config()) == keys
    assert stack.up().outputs["text"].value == "plain"
    stack.remove_config("deep.list", path=True)
    stack.remove_all_config(["one", "two"])
    stack.set_all_config_json(
        json.dumps({"project:text": {"value": "json"}, "project:list": {"objectValue": ["a", {"b.c": 1}]}})
    )
    assert stack.get_all_config()["project:text"].value == "json"
    assert json.loads(stack.get_config("list").value) == ["a", {"b.c": 1}]
    with pytest.raises(auto.CommandError):
        stack.get_config("one")
    stack.refresh_config()
    assert set(stack.get_all_config()) == keys
    assert "--hush" not in Path(stack.workspace.work_dir, "Pulumi.dev.yaml").read_text()


def test_messages_for_debugging_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, lambda: pulumi.log.debug("a detail"))
    assert "a detail" not in stack.preview().stdout
    assert "a detail" in stack.up(debug=True).stdout


def test_tags_of_a_stack_are_set_read_and_removed(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, lambda: None)
    assert stack.list_tags() == {}
    stack.set_tag("team", "web")
    stack.set_tag("cost:center", "-7")
    assert stack.get_tag("cost:center") == "-7"
    stack.remove_tag("team")
    assert stack.list_tags() == {"cost:center": "-7"}
    with pytest.raises(auto.CommandError, match="stack tag 'team' not found for stack 'dev'"):
        stack.get_tag("team")


def test_configuration_that_is_set_at_once_is_all_kept(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, lambda: None)
    keys = [f"project:key{index}" for index in range(12)]
    with ThreadPoolExecutor(len(keys)) as pool:
        for done in [
            pool.submit(stack.set_config, key, auto.ConfigValue(key, secret=index % 2 == 0))
            for index, key in enumerate(keys)
        ]:
            done.result()
    assert set(stack.get_all_config()) == set(keys)


def test_the_history_tells_of_every_operation(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    stack.up(message="one")
    stack.set_config("token", auto.ConfigValue("hush", secret=True))
    stack.set_config("text", auto.ConfigValue("changed"))
    stack.up(message="two")
    stack.up()
    stack.destroy(message="three")
    told = [(entry.message, entry.kind, entry.version) for entry in stack.history()]
    assert told == [("three", "destroy", 4), ("", "update", 3), ("two", "update", 2), ("one", "update", 1)]
    assert [entry.message for entry in stack.history(page_size=1, page=3)] == ["two"]
    last = stack.info()
    assert last is not None
    assert last.environment["exec.kind"] == "auto.inline"
    assert (last.config["project:token"].value, last.config["project:token"].secret) == ("hush", True)
    masked = stack.info(show_secrets=False)
    assert masked is not None
    assert masked.config["project:token"].value == "[secret]"


def test_output_and_events_are_told_while_an_operation_goes_on(tmp_path: Path) -> None:
    lines: list[str] = []
    events: list[auto.EngineEvent] = []
    heard = threading.Event()

    class Waiting(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            assert heard.wait(60), "the event of its beginning is told while the call goes on"
            return super().create(props)

    def on_event(event: auto.EngineEvent) -> None:
        events.append(event)
        if event.resource_pre_event and event.resource_pre_event.metadata.urn == urn("a"):
            heard.set()

    def program() -> None:
        Thing(Waiting(), "a")

    result = new_stack(tmp_path, program).up(on_output=lines.append, on_event=on_event)
    assert "\n".join(lines) == result.stdout
    assert [event.sequence for event in events] == list(range(len(events)))
    assert all(isinstance(event, official.EngineEvent) for event in events)
    (summary,) = [event.summary_event for event in events if event.summary_event]
    assert summary.resource_changes == {"create": 2}
    assert events[-1].cancel_event is not None


def test_targets_excludes_and_replacements_are_named(tmp_path: Path) -> None:
    def program() -> None:
        Thing(Echo(), "a")
        Thing(Echo(), "b")

    stack = new_stack(tmp_path, program)
    stack.up(target=[urn("a")])
    assert "create" not in stack.preview(exclude=[urn("b")]).change_summary
    stack.up(parallel=1, continue_on_error=True, color="never", suppress_outputs=True)
    changes = stack.up(replace=[urn("b")]).summary.resource_changes
    assert changes is not None
    assert (changes[auto.OpType.SAME], changes[auto.OpType.REPLACE]) == (2, 1)


def test_a_plan_is_followed(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    plan = str(tmp_path / "plan.json")
    stack.preview(plan=plan)
    stack.set_config("text", auto.ConfigValue("changed"))
    with pytest.raises(auto.CommandError):
        stack.up(plan=plan)
    stack.preview(plan=plan)
    assert stack.up(plan=plan).outputs["text"].value == "changed"


def test_a_state_is_exported_and_imported(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    stack.up()
    state = stack.export_stack()
    assert isinstance(state, official.Deployment)
    assert (state.version, len(state.deployment["resources"])) == (3, 3)
    stack.destroy()
    stack.import_stack(state)
    assert len(stack.export_stack().deployment["resources"]) == 3
    hidden = stack.outputs()["hidden"]
    assert (hidden.value, hidden.secret) == ("hush", True)


def test_a_stack_is_renamed_and_removed(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)
    stack.up()
    summary = stack.rename("prod").summary
    assert summary is not None
    assert (stack.name, summary.kind) == ("prod", "rename")
    with pytest.raises(auto.CommandError):
        stack.workspace.remove_stack("prod")
    stack.workspace.remove_stack("prod", force=True)
    assert stack.workspace.list_stacks() == []


def test_objects_that_exist_are_taken_over(tmp_path: Path) -> None:
    class Found(Echo):
        def read(self, id_: str, _props: Any) -> ReadResult:
            return ReadResult(id_, {"text": f"of {id_}"})

    provider = Found()
    wanted: list[bool] = []

    def program() -> None:
        Thing(provider, "known", {"text": "k"})
        if wanted:
            Thing(provider, "taken", {"text": "of 7"})

    stack = new_stack(tmp_path, program)
    stack.up()
    wanted.append(True)
    result = stack.import_resources(
        resources=[{"type": "pulumi-python:dynamic:Resource", "name": "taken", "id": "7"}], protect=False
    )
    assert result.summary.resource_changes is not None
    assert result.summary.resource_changes[auto.OpType.IMPORT] == 1
    assert "taken" in result.generated_code
    assert stack.up().summary.resource_changes == {"same": 3}


def test_differences_of_an_import_are_refused_where_that_is_asked_for(tmp_path: Path) -> None:
    class Found(Echo):
        def read(self, id_: str, _props: Any) -> ReadResult:
            return ReadResult(id_, {"text": f"of {id_}"})

    def program() -> None:
        Thing(Found(), "taken", {"text": "other"}, opts=pulumi.ResourceOptions(import_="7"))

    stack = new_stack(tmp_path, program)
    for operate in (stack.preview, stack.up):
        with pytest.raises(auto.CommandError, match="it is not as the program says in text"):
            operate(refuse_import_differences=True)
    assert stack.up().summary.resource_changes == {"same": 1, "import": 1, "update": 1}


def test_an_operation_sends_traces_to_the_collector_that_it_names(tmp_path: Path) -> None:
    class Found(Echo):
        def read(self, id_: str, _props: Any) -> ReadResult:
            return ReadResult(id_, {"text": "t"})

    stack = new_stack(tmp_path, lambda: Thing(Found(), "echo", {"text": "t"}))
    resources: list[auto.ImportResource] = [{"type": "pulumi-python:dynamic:Resource", "name": "echo", "id": "7"}]
    with collector() as seen:
        for operate in (stack.up, stack.preview, stack.refresh, stack.destroy):
            operate(otel_traces=seen.address)
        stack.import_resources(resources=resources, protect=False, otel_traces=seen.address)
        stack.up()
    operations = [span.name for span in seen.spans if span.parent == ""]
    assert operations == ["maloko up", "maloko preview", "maloko refresh", "maloko destroy", "maloko import"]


def test_settings_of_projects_and_stacks_are_files(tmp_path: Path) -> None:
    settings = auto.ProjectSettings(name="named", runtime="python", description="of a test")
    stack_settings = {"dev": auto.StackSettings(config={"named:text": "from settings"})}
    stack = new_stack(tmp_path, project_settings=settings, stack_settings=stack_settings)
    assert stack.workspace.project_settings().description == "of a test"
    assert settings.main is None
    assert stack.up().outputs["text"].value == "from settings"
    saved = stack.workspace.stack_settings("dev")
    assert saved.encryption_salt is not None
    saved.config = {"named:text": "saved"}
    stack.workspace.save_stack_settings("dev", saved)
    assert stack.up().outputs["text"].value == "saved"
    with pytest.raises(FileNotFoundError):
        stack.workspace.stack_settings("none")


def test_variables_of_a_workspace_are_not_those_of_the_process(tmp_path: Path) -> None:
    before = dict(os.environ)
    seen: list[dict[str, str]] = []
    new_stack(tmp_path, lambda: seen.append(dict(os.environ))).up()
    assert dict(os.environ) == before
    assert seen == [before]


def test_the_state_of_a_temporary_workspace_must_have_a_place(tmp_path: Path) -> None:
    variables = {
        "PULUMI_BACKEND_URL": "",
        "PULUMI_CONFIG_PASSPHRASE": "secret",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    with pytest.raises(Exception, match="a temporary directory that nothing finds again"):
        auto.create_stack("dev", "project", echo, opts=auto.LocalWorkspaceOptions(env_vars=variables))
    settings = auto.ProjectSettings(
        name="project", runtime="python", backend=auto.ProjectBackend(url=f"file://{tmp_path}")
    )
    options = auto.LocalWorkspaceOptions(env_vars=variables, project_settings=settings)
    auto.create_stack("dev", "project", echo, opts=options).up()
    assert (tmp_path / ".pulumi").is_dir()


def test_names_arguments_and_results_are_the_official_ones() -> None:
    assert set(official.__all__) <= set(auto.__all__)
    assert all(hasattr(auto, name) for name in auto.__all__)
    pairs: list[tuple[str, Any, Any]] = [
        (f"{owner.__name__}.{name}", getattr(owner, name), getattr(ours, name))
        for owner, ours in [(official.Stack, auto.Stack), (official.LocalWorkspace, auto.LocalWorkspace)]
        for name in vars(owner)
        if inspect.isroutine(getattr(owner, name)) and (not name.startswith("_") or name == "__init__")
    ]
    pairs += [(name, getattr(official, name), getattr(auto, name)) for name in ("create_stack", "select_stack")]
    for name, theirs, ours in pairs:
        expected = {key: value.default for key, value in inspect.signature(theirs).parameters.items()}
        found = {key: value.default for key, value in inspect.signature(ours).parameters.items()}
        # An SDK that is older than the newest has some arguments fewer.
        assert {key: found.get(key, "missing") for key in expected} == expected, name
        # What is ours does nothing where it is not given.
        defaults = {key: value for key, value in found.items() if key not in expected and value is not None}
        assert defaults.items() <= {"outputs": True, "summary": True, "progress_every": 2.5}.items(), name
        result, wanted = (typing.get_type_hints(one).get("return") for one in (ours, theirs))
        if isinstance(result, type) and isinstance(wanted, type):
            assert issubclass(result, wanted), name
