"""Resources of provider plugins beside dynamic ones, on the command line: real plugins in processes of their own."""

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest
from cli import MAX_SECONDS, Project, begin
from night import by_day
from plugged import DESTROY, PROBE, PROGRAM, TOKEN, UP, Plugged, inputs


def until(running: subprocess.Popen[str], text: str) -> None:
    """Reads lines until one has the text."""
    seen = []
    for line in running.stdout or []:
        seen.append(line)
        if text in line:
            return
    raise AssertionError(f"'{text}' was never said:\n{''.join(seen)}")


def begin_a_create_that_sleeps(plugged: Plugged, seconds: int) -> subprocess.Popen[str]:
    plugged.project.environment["INPUTS"] = inputs(log=True, sleep=seconds, sleepIn="create")
    running = begin(plugged.project, *UP)
    until(running, "info from create")
    return running


def test_a_plugins_resource_and_a_dynamic_one_live_in_one_stack(plugged: Plugged) -> None:
    project = plugged.project
    assert "+ 3 created" in project.run(*UP).stdout
    assert plugged.objects() == ["here-thing-1"]
    outputs = json.loads(project.run("stack", "output", "--json", "--show-secrets").stdout)
    assert outputs == {"url": "http://here-thing-1", "token": TOKEN, "length": len(TOKEN)}

    assert "3 unchanged" in project.run(*UP).stdout

    assert "~ 2 updated" in project.run(*UP, INPUTS=inputs(text="new")).stdout
    assert json.loads((plugged.world / "here-thing-1.json").read_text())["text"] == "new"

    assert "- 3 deleted" in project.run(*DESTROY).stdout
    assert plugged.objects() == []
    assert plugged.resources() == []


def test_a_secret_of_a_plugin_is_never_written_in_plain_text(plugged: Plugged) -> None:
    said = plugged.project.run(*UP).stdout
    said += plugged.project.run(*UP, INPUTS=inputs(text="new")).stdout
    assert "[secret]" in said
    assert TOKEN not in said
    assert "http://here-thing-1" in plugged.written()
    assert TOKEN not in plugged.written()


def test_a_plugin_that_is_not_there_is_named_with_what_to_do(without: Plugged) -> None:
    said = without.project.failing(*UP)
    assert "no resource plugin 'pulumi-resource-probe' found" in said
    assert "Put its executable into a folder of $PATH" in said
    assert "plugin install resource probe" in said
    assert without.resources() == []


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("badPort", ["its first line has to be the port on which it listens, and is 'hello'"]),
        ("exitStart", ["it ended before it told its port (exit status: 7)", "cannot start: no licence"]),
        ("configureFails", ["the configuration is refused"]),
    ],
)
def test_a_plugin_that_does_not_start_is_an_error_with_its_last_words(
    plugged: Plugged, flag: str, words: list[str]
) -> None:
    said = plugged.project.failing(*UP, PROBE_FLAGS=flag)
    assert [word for word in words if word not in said] == []
    assert plugged.resources() == []
    plugged.ends()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [("1", "it has not told its port within 1 s"), ("soon", "it must be a whole number of seconds, at least 1")],
)
def test_the_environment_says_how_long_a_plugin_may_take_to_start(plugged: Plugged, seconds: str, told: str) -> None:
    said = plugged.project.failing(*UP, PROBE_FLAGS="hangStart", MALOKO_PLUGIN_START_SECONDS=seconds)
    assert told in said
    assert plugged.resources() == []


@pytest.mark.nightly
def test_no_plugin_is_left_after_a_run(plugged: Plugged) -> None:
    plugged.project.run(*UP)
    plugged.ends()


def test_no_plugin_is_left_after_a_run_that_failed(plugged: Plugged) -> None:
    assert "create refused" in plugged.project.failing(*UP, INPUTS=inputs(fail="create"))
    plugged.ends()


def test_no_plugin_is_left_after_a_run_that_was_killed(plugged: Plugged) -> None:
    with begin_a_create_that_sleeps(plugged, 3600) as running:
        running.kill()
        running.wait(timeout=60)
    plugged.ends()


def test_a_create_in_which_the_plugin_dies_stays_unresolved(plugged: Plugged) -> None:
    project = plugged.project
    said = project.failing(*UP, INPUTS=inputs(crash="create"))
    assert "thing failed to create" in said
    assert "the plugin's process has ended in the middle of the call" in said
    assert "about to crash" in said
    listed = project.run("stack").stdout
    assert "1 unresolved create, whose object may exist" in listed
    assert "probe:index:Thing::thing" in listed
    assert "Plugins cannot look for these objects" in listed
    assert plugged.objects() == []

    # An attempt that fails cleanly says nothing of the first one.
    assert "plugins cannot look for them" in project.failing(*UP, INPUTS=inputs(fail="create"))
    assert "1 unresolved create, whose object may exist" in project.run("stack").stdout

    named = "an earlier run was interrupted while creating this resource"
    said = project.run("preview").stdout
    assert (said.count(named), said.count("take it over with"), said.count("'find'")) == (1, 1, 0), said
    said = project.run(*UP).stdout
    assert (said.count(named), said.count("its plugin cannot look for the object, so it is created again")) == (1, 1)
    assert "operation key" not in said
    assert "unresolved" not in project.run("stack").stdout
    assert plugged.objects() == ["here-thing-1"]
    assert plugged.resources() == ["thing", "note"]
    plugged.ends()


@pytest.mark.nightly
def test_an_update_in_which_the_plugin_dies_is_named_by_the_next_preview_and_update(plugged: Plugged) -> None:
    project = plugged.project
    project.run(*UP)
    project.failing(*UP, INPUTS=inputs(text="new", crash="update"))
    for command in (("preview",), UP):
        said = project.run(*command).stdout
        assert said.count("an earlier run was interrupted while updating this resource") == 1, said


def test_a_stack_with_nothing_but_its_own_resource_is_refreshed_without_its_program(project: Project) -> None:
    project.write("__main__.py", "")
    project.run(*UP)
    project.write("__main__.py", "raise ValueError('the program ran')")
    assert "the program ran" not in project.run("refresh", "--yes", "--skip-preview").stdout
    assert "the program ran" in project.run("refresh", "--yes", "--skip-preview", "--run-program").stdout


def test_ctrl_c_in_a_plugins_create_ends_the_run_soon(plugged: Plugged) -> None:
    running = begin_a_create_that_sleeps(plugged, 3600)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=MAX_SECONDS)
    assert running.returncode != 0, said
    assert "note" not in plugged.resources()
    plugged.ends()


def test_what_a_plugin_logs_stands_at_its_resource(plugged: Plugged) -> None:
    said = plugged.project.run(*UP, INPUTS=inputs(log=True)).stdout.splitlines()
    assert "Thing thing: info from create" in said
    assert "warning: Thing thing: warning from create" in said
    assert not [line for line in said if "debug from" in line]


def test_a_secret_in_what_a_plugin_logs_is_not_shown(plugged: Plugged) -> None:
    said = plugged.project.run(*UP, INPUTS=inputs(hush="very-well-kept")).stdout
    assert "Thing thing: create got [secret]" in said
    assert "very-well-kept" not in said
    assert "very-well-kept" in (plugged.world / "here-thing-1.json").read_text()


def test_a_plugin_is_told_the_trace_of_its_call(plugged: Plugged) -> None:
    caller = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
    nobody = "http://127.0.0.1:1"
    told_us = {"TRACEPARENT": f"00-{caller}-01", "TRACESTATE": "vendor=carried"}
    done = plugged.project.run(*UP, "--otel-traces", nobody, INPUTS=inputs(trace=True), **told_us)
    told = re.findall(r"create is below 00-(\S+)-01 of vendor=carried", done.stdout)
    assert [span.split("-")[0] for span in told] == [caller.split("-")[0]]
    assert told != [caller]
    assert (
        "create is below no trace" in plugged.project.run(*UP, "--replace", "thing", INPUTS=inputs(trace=True)).stdout
    )


def test_a_plugin_gets_the_names_that_the_configuration_proposes(plugged: Plugged) -> None:
    naming = ("-c", 'pulumi:autonaming={"pattern": "${project}-${name}-${hex(6)}"}')
    plugged.project.run(*UP, *naming, INPUTS=inputs(autoname=True))
    (made,) = plugged.world.iterdir()
    name = json.loads(made.read_text())["fullName"]
    project, own, random = name.rsplit("-", 2)
    assert (project, own, len(random)) == ("trial", "thing", 6)
    assert "3 unchanged" in plugged.project.run(*UP, INPUTS=inputs(autoname=True, fullName=name)).stdout


def test_a_plugin_that_takes_no_names_is_a_single_warning(plugged: Plugged) -> None:
    told = "pulumi:autonaming has no effect on the package 'probe'"
    flags = {"INPUTS": inputs(autoname=True), "PROBE_FLAGS": "noAutonaming"}
    said = plugged.project.run(*UP, "-c", 'pulumi:autonaming={"mode": "verbatim"}', **flags).stdout
    assert said.count(told) == 1, said
    assert "fullName" not in (plugged.world / "here-thing-1.json").read_text()
    settings = 'pulumi:autonaming={"mode": "verbatim", "providers": {"probe": {"mode": "default"}}}'
    assert told not in plugged.project.run(*UP, "-c", settings, **flags).stdout


def test_an_asset_that_a_plugin_returns_by_its_hash_keeps_its_content(plugged: Plugged) -> None:
    wanted = inputs(echo=True, file="what is in the file")
    plugged.project.run(*UP, INPUTS=wanted)
    plugged.project.run("refresh", "--yes", "--skip-preview", INPUTS=wanted)
    states = json.loads(plugged.project.state())["checkpoint"]["latest"]["resources"]
    (thing,) = [resource for resource in states if resource["type"] == "probe:index:Thing"]
    assert [thing[side]["file"]["text"] for side in ("inputs", "outputs")] == ["what is in the file"] * 2
    assert "3 unchanged" in plugged.project.run(*UP, INPUTS=wanted).stdout


def test_an_import_that_differs_is_updated_or_refused_where_that_is_asked_for(plugged: Plugged) -> None:
    there = plugged.world / "there.json"
    there.write_text(json.dumps({"color": "blue", "size": 1, "text": "theirs"}))
    wanted = inputs(take="there", text="mine")
    for command in (("preview",), UP):
        said = plugged.project.failing(*command, "--refuse-import-differences", INPUTS=wanted)
        assert '* text: the program has "mine", the object has "theirs"' in said
    assert plugged.resources() == []
    plugged.project.run(*UP, INPUTS=wanted)
    assert json.loads(there.read_text())["text"] == "mine"
    assert "3 unchanged" in plugged.project.run(*UP, INPUTS=wanted).stdout


def test_a_preview_makes_nothing_and_shows_what_is_not_known(plugged: Plugged) -> None:
    said = plugged.project.run("preview").stdout
    assert "+ Thing thing create" in said
    assert "url   : [unknown]" in said
    assert plugged.objects() == []
    assert plugged.resources() == []
    plugged.ends()


WAITING = """
import pulumi
from pulumi.runtime import invoke_output

thing = pulumi.CustomResource("probe:index:Thing", "thing", {"size": 1})
options = pulumi.InvokeOutputOptions(depends_on=[thing])
answer = invoke_output("probe:index:add", {"a": 1, "log": True}, options)
pulumi.export("sum", answer.apply(lambda it: it["sum"]))
"""


def test_a_function_is_called_when_what_it_depends_on_is_there(plugged: Plugged) -> None:
    plugged.project.write("__main__.py", WAITING)
    said = plugged.project.run("preview").stdout
    assert "info from invoke" not in said
    assert "sum: [unknown]" in said
    said = plugged.project.run(*UP).stdout
    assert "info from invoke" in said
    assert "sum: 1" in said
    assert "info from invoke" in plugged.project.run("preview").stdout


def test_a_program_that_requires_another_version_of_pulumi_is_refused(project: Project) -> None:
    project.write("__main__.py", "import pulumi\npulumi.require_pulumi_version('>=3.0.0')\n")
    project.run("preview")
    project.write("__main__.py", "import pulumi\npulumi.require_pulumi_version('<2.0.0 || >900.0.0')\n")
    assert "Pulumi <2.0.0 || >900.0.0 is required, and maloko behaves as Pulumi 3." in project.failing("preview")
    project.write("__main__.py", "")
    project.write("Pulumi.yaml", 'name: trial\nruntime: python\nrequiredPulumiVersion: ">=900.0.0"\n')
    assert "Pulumi.yaml:3: Pulumi >=900.0.0 is required" in project.failing("preview")


@pytest.mark.parametrize(
    "listed",
    by_day(
        ["plugins:\n  providers:\n    - name: probe\n      path: ./plugin\n", "packages:\n  probe: ./plugin\n"],
        lambda _, place: place == 1,
    ),
)
def test_a_plugin_in_a_folder_of_the_project_runs_in_its_environment(without: Plugged, listed: str) -> None:
    project = without.project
    project.write("Pulumi.yaml", f"name: trial\nruntime: python\n{listed}")
    project.write(
        "plugin/PulumiPlugin.yaml",
        json.dumps({"runtime": {"name": "python", "options": {"virtualenv": sys.prefix}}}),
    )
    shutil.copy(PROBE, project.directory / "plugin" / "__main__.py")
    shutil.copy(PROBE.with_name("messages.py"), project.directory / "plugin")
    assert "+ 3 created" in project.run(*UP).stdout
    assert without.objects() == ["here-thing-1"]


def test_an_environment_that_is_not_there_is_named(without: Plugged) -> None:
    project = without.project
    project.write(
        "Pulumi.yaml",
        "name: trial\nruntime: python\nplugins:\n  providers:\n    - name: probe\n      path: ./plugin\n",
    )
    project.write("plugin/PulumiPlugin.yaml", "runtime: python\n")
    project.write("plugin/__main__.py", "")
    said = project.failing(*UP)
    assert f"needs the Python environment {project.directory}/plugin/venv, which is not there" in said.replace("./", "")
    assert without.resources() == []


def test_a_plugin_that_runs_already_is_attached_and_goes_on(without: Plugged) -> None:
    project = without.project
    running = subprocess.Popen(
        [sys.executable, PROBE], env=project.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        port = running.stdout.readline().strip()
        attached = {"PULUMI_DEBUG_PROVIDERS": f"probe:{port}"}
        said = project.run(*UP, **attached, INPUTS=inputs(log=True)).stdout
        assert "Thing thing: info from create" in said
        assert without.objects() == ["here-thing-1"]
        assert running.poll() is None
        project.run(*DESTROY, **attached)
        assert without.objects() == []
        assert running.poll() is None
    finally:
        running.kill()
        running.communicate()


def test_the_command_import_takes_over_an_object_of_a_package(plugged: Plugged) -> None:
    project = plugged.project
    (plugged.world / "by-hand.json").write_text('{"color": "red", "text": "old"}')
    project.write("__main__.py", "raise Exception('the program is not needed')\n")
    imported = ("import", "probe:index:Thing", "lamp", "by-hand", "--yes", "--skip-preview")
    said = project.run(*imported).stdout
    assert 'lamp = probe.Thing("lamp", color="red", text="old", opts=pulumi.ResourceOptions(protect=True))' in said
    assert plugged.resources() == ["lamp"]
    assert "'nothing'" in project.failing("import", "probe:index:Thing", "gone", "nothing", "--yes", "--skip-preview")
    thing = PROGRAM.split("inputs = ")[0]
    options = "pulumi.ResourceOptions(protect=True)"
    thing = thing.replace(
        'name, props):\n        super().__init__("probe', 'name, props, opts):\n        super().__init__("probe'
    )
    thing = thing.replace('"token": None, **props})', '"token": None, **props}, opts)')
    project.write("__main__.py", f'{thing}\nThing("lamp", {{"color": "red", "text": "old"}}, {options})\n')
    assert "2 unchanged" in project.run(*UP).stdout
