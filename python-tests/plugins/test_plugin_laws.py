"""Plugins under the laws of providers: each law catches the bug that it is about, and is silent on a good plugin."""

import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli import MAX_SECONDS, Project, begin, wait_for
from law_breaking_world import THING, World, plugin_in
from night import LONG, by_day, rounds
from scripted import PLUGIN as MINI

from maloko import MalokoError
from maloko.testing import Plugin, ProviderLaws, Secret

INPUTS = [
    {"size": 1, "text": "alpha-omega"},
    {"size": 1, "text": "beta-gamma"},
    {"size": 2, "text": "beta-gamma"},
]
BREAKS = ["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "L14", "L17"]
DAY = ["L6", "L14"]
"""A law of replacements and one of cancelling. By day other tests have L3, L5, L7, L10 and L11."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The world of a plugin that the tests of this file share, and its executable beside it."""
    made = tmp_path_factory.mktemp("laws")
    with plugin_in(made):
        yield made


@pytest.fixture(scope="module")
def plugin(folder: Path) -> Iterator[Plugin]:
    made = Plugin(THING, path=folder / "pulumi-resource-probe")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def unbroken(folder: Path) -> Iterator[None]:
    """Each test begins with a plugin that is right and with nothing in its world."""
    yield
    folder.joinpath("world", ".breaks").unlink(missing_ok=True)
    World(folder / "world").reset()


def laws_of(plugin: Plugin, folder: Path, **settings: Any) -> type[ProviderLaws]:
    attributes = {"provider": plugin, "inputs": INPUTS, "secret": {"text"}, "volatile": {"mark"}, "grace": 4.0}
    attributes |= {"world": World(folder / "world"), "__module__": __name__, **settings}
    return type("Things", (ProviderLaws,), attributes)


def test_a_plugin_that_is_right_keeps_all_laws(plugin: Plugin, folder: Path) -> None:
    verdicts = laws_of(plugin, folder, volatile=set(), examples=rounds(1, 10)).verdicts()
    told = {law: it.text for law, it in verdicts.items() if it.outcome != "holds"}
    assert told.keys() == {"L13", "L16"}
    assert told["L13"].startswith("L13 needs an operation key, which the protocol of plugins does not have")
    assert not World(folder / "world").objects()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plugin_that_tells_of_views_keeps_the_laws(plugin: Plugin, folder: Path) -> None:
    inputs = [{**given, "parts": {"a": number}} for number, given in enumerate(INPUTS)]
    verdicts = laws_of(plugin, folder, inputs=inputs, examples=1).verdicts("L1", "L2", "L3", "L4", "L7")
    assert {law: it.text for law, it in verdicts.items() if it.outcome != "holds"} == {}


@pytest.mark.parametrize("law", by_day(BREAKS, lambda law, _: law in DAY))
def test_a_law_catches_the_bug_of_a_plugin_and_no_other_law_does(plugin: Plugin, folder: Path, law: str) -> None:
    folder.joinpath("world", ".breaks").write_text(law)
    laws = laws_of(plugin, folder, examples=1, grace=1.0)
    # Each create waits for its cancellation there.
    others = BREAKS if LONG else BREAKS[3:7]
    tried = ["L2", "L14"] if law == "L14" else [name for name in others if name != "L14"]
    broken = {name: it.text for name, it in laws.verdicts(*tried).items() if it.outcome == "broken"}
    assert broken.keys() == {law}, "\n".join(broken.values())
    for word in (f"{law} ", f"broken by {THING}", "property: ", "expected: ", "found: "):
        assert word in broken[law]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_laws_without_a_world_say_what_they_need(plugin: Plugin, folder: Path) -> None:
    verdicts = laws_of(plugin, folder, world=None).verdicts("L2", "L7", "L10")
    assert verdicts["L2"].outcome == "holds"
    assert verdicts["L7"].text == "L7 needs `world`, to see what is left of a replacement"
    assert verdicts["L10"].text.startswith("L10 needs `world`, to see what planning has changed")


def test_a_package_that_a_plugin_makes_of_parameters_is_judged(folder: Path) -> None:
    made = Plugin("garden:index:Thing", path=folder / "pulumi-resource-probe", parameters=["garden", "of roses"])
    try:
        laws = laws_of(made, folder, examples=1)
        assert {law: it.outcome for law, it in laws.verdicts("L2", "L3").items()} == {"L2": "holds", "L3": "holds"}
        folder.joinpath("world", ".breaks").write_text("L3")
        assert laws.verdicts("L3")["L3"].outcome == "broken"
    finally:
        made.close()
    other = Plugin("meadow:index:Thing", path=folder / "pulumi-resource-probe", parameters=["garden"])
    with pytest.raises(MalokoError, match="the plugin 'probe' made no package 'meadow' of garden: it made 'garden'"):
        laws_of(other, folder).verdicts("L2")
    with pytest.raises(MalokoError, match="which plugin makes the package 'garden' of roses is not said"):
        laws_of(Plugin("garden:index:Thing", parameters=["roses"]), folder).verdicts("L2")


def test_parameters_that_are_no_list_of_texts_are_refused() -> None:
    told = "parameters='hashicorp/random 3.6.0' is no list; give parameters=['hashicorp/random', '3.6.0']"
    with pytest.raises(MalokoError, match=re.escape(told)):
        Plugin("random:index/pet:Pet", parameters="hashicorp/random 3.6.0")
    with pytest.raises(MalokoError, match="is no list of texts; write each between quotes"):
        Plugin("random:index/pet:Pet", parameters=["hashicorp/random", 3.6])  # type: ignore[list-item]


def test_inputs_of_a_plugin_may_be_drawn(plugin: Plugin, folder: Path) -> None:
    from hypothesis import strategies as st

    folder.joinpath("world", ".breaks").write_text("L3")
    inputs = st.fixed_dictionaries({"size": st.integers(0, 99), "text": st.text("abc", min_size=1)})
    verdict = laws_of(plugin, folder, inputs=inputs, examples=5).verdicts("L3", seed=1)["L3"]
    assert verdict.outcome == "broken"
    assert '{"size": 0, "text": "[secret 1]"}' in verdict.text
    assert "again: seed=1" in verdict.text


def test_a_plugin_is_configured_as_the_author_says(folder: Path) -> None:
    plugin = Plugin(THING, path=folder)
    try:
        config = {"region": "there", "key": Secret("open-sesame")}
        assert laws_of(plugin, folder, config=config).verdicts("L2")["L2"].outcome == "holds"
        with pytest.raises(
            MalokoError,
            match="the plugin of the package 'probe' refuses its configuration: region: there is no such region",
        ):
            laws_of(plugin, folder, config={"region": "nowhere"}).verdicts("L2")
    finally:
        plugin.close()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_inputs_that_a_plugin_refuses_are_told(plugin: Plugin, folder: Path) -> None:
    verdict = laws_of(plugin, folder, inputs=[{"size": -1}]).verdicts("L2")["L2"]
    assert verdict.outcome == "broken"
    assert "refuses all 1 example inputs" in verdict.text
    assert "must not be negative" in verdict.text


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plugin_that_is_not_there_is_named(folder: Path) -> None:
    for plugin, told in (
        (Plugin("nowhere:index:Thing"), "nowhere"),
        (Plugin(THING, path=folder / "missing"), "there is no plugin"),
        (Plugin("Thing"), "is no type of a package"),
    ):
        with pytest.raises(MalokoError, match=told):
            laws_of(plugin, folder).verdicts("L2")


def test_a_report_has_the_inputs_that_were_tried_without_secrets(plugin: Plugin, folder: Path) -> None:
    folder.joinpath("world", ".breaks").write_text("L5")
    pair = [{"size": 1, "text": "alpha-omega"}, {"size": 2, "text": "beta-gamma"}]
    told = laws_of(plugin, folder, inputs=pair).verdicts("L5")["L5"].text
    assert '  first:    {"size": 1, "text": "[secret 1]"}\n  then:     {"size": 1, "text": "[secret 2]"}\n' in told


# On the command line.


def judged(project: Project, folder: Path, inputs: str, *more: str, code: int = 0) -> str:
    project.write("inputs.yaml", inputs)
    project.environment["PROBE_WORLD"] = str(folder / "world")
    arguments = ("provider", "test", str(folder / "pulumi-resource-probe"), THING, "--inputs", "inputs.yaml", *more)
    ran = project.run(*arguments, code=code)
    return ran.stdout if code in (0, 1) and ran.stdout else ran.stderr


WORLD = {
    "objects": "ls world | sed -n 's/\\.json$//p'",
    "mutate_remote": """sed -i 's/"text": "[^"]*"/"text": "drifted"/' "world/$1.json\"""",
    "delete_remote": 'rm "world/$1.json"',
    "reset": "rm -f world/*.json",
}
"""What the plugin talks to, for a shell in the folder of the inputs."""
LIST = """
import json, pathlib

found = pathlib.Path("world").glob("*.json")
print(json.dumps({it.stem: json.loads(it.read_text()) for it in found}))
"""
"""Prints the objects with all that is in them."""
GOOD = json.dumps({"inputs": INPUTS, "secret": ["text"], "waive": {"L16": "there was no release"}})


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.nightly
def test_the_command_line_judges_a_plugin(project: Project, folder: Path) -> None:
    told = judged(project, folder, GOOD)
    assert "L2 holds: 3 examples" in told
    assert "L7 needs `world`" in told
    assert "L16 is waived: there was no release" in told
    assert told.endswith("17 laws: 12 held, 0 broken, 5 not tried\n")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_command_line_tells_the_law_that_a_plugin_breaks(project: Project, folder: Path) -> None:
    folder.joinpath("world", ".breaks").write_text("L3")
    told = judged(project, folder, GOOD, "--law", "L2", "--law", "L3", code=1)
    assert f"L3 read equals the outs: broken by {THING}\n  property: url" in told
    assert told.endswith("2 laws: 1 held, 1 broken, 0 not tried\n")
    told = json.loads(judged(project, folder, GOOD, "--law", "L3", "--json", code=1))
    assert (told["broken"], told["laws"][0]["law"], told["laws"][0]["outcome"]) == (1, "L3", "broken")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_command_line_judges_a_package_that_a_plugin_makes(project: Project, folder: Path) -> None:
    project.directory.joinpath("inputs.yaml").write_text(GOOD)
    made = ("garden:index:Thing", "--parameter", "garden", "--parameter", "of roses")
    plugin = str(folder / "pulumi-resource-probe")
    ran = project.run("provider", "test", plugin, *made, "--inputs", "inputs.yaml", "--law", "L3", code=0)
    assert ran.stdout.startswith("L3 holds: 6 examples")


def of_world(project: Project, folder: Path, **commands: str) -> str:
    """A file of inputs that describes the world."""
    project.directory.joinpath("world").symlink_to(folder / "world")
    return json.dumps({**json.loads(GOOD), "world": {**WORLD, **commands}})


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_command_line_judges_a_plugin_by_its_world(project: Project, folder: Path) -> None:
    seen = ("L7", "L10", "L11")
    # By day those that need the world alone.
    alone = () if LONG else [word for law in seen for word in ("--law", law)]
    told = judged(project, folder, of_world(project, folder), *alone)
    for law in seen:
        assert f"{law} holds: " in told
    assert told.endswith(f"{'17 laws: 15 held, 0 broken, 2' if LONG else '3 laws: 3 held, 0 broken, 0'} not tried\n")
    assert not World(folder / "world").objects()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize("law", by_day(["L7", "L10", "L11"], lambda law, _: law == "L10"))
def test_the_command_line_catches_what_only_a_world_shows(project: Project, folder: Path, law: str) -> None:
    folder.joinpath("world", ".breaks").write_text(law)
    project.write("list.py", LIST)
    objects = f"'{sys.executable}' list.py"
    told = judged(project, folder, of_world(project, folder, objects=objects), "--law", law, code=1)
    assert f"broken by {THING}" in told
    assert told.endswith("1 law: 0 held, 1 broken, 0 not tried\n")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ({"objects": "echo no such service >&2; exit 3"}, "failed (exit status: 3): no such service"),
        ({"objects": "echo '[{}]'"}, "printed a list of something else than ids"),
        ({"reset": "false"}, "the command `reset` of the world failed"),
        ({"mutate_remote": "false"}, "the command `mutate_remote` of the world failed"),
        ({"objects": " "}, "`world` has no `objects`"),
    ],
)
def test_a_command_of_the_world_that_fails_is_told(
    project: Project, folder: Path, command: dict[str, str], told: str
) -> None:
    said = judged(project, folder, of_world(project, folder, **command), "--law", "L11", code=2)
    assert told in said
    assert not World(folder / "world").objects()


def test_ctrl_c_stops_the_judge_which_deletes_what_it_has_made(project: Project, folder: Path) -> None:
    sleeps = {"size": 1, "sleep": 60, "sleepIn": "update"}
    of_tests = {"schema": "how long a call sleeps is said to this plugin alone"}
    project.write("inputs.yaml", json.dumps({"inputs": [sleeps, {**sleeps, "text": "alpha"}], "waive": of_tests}))
    project.environment["PROBE_WORLD"] = str(folder / "world")
    executable = str(folder / "pulumi-resource-probe")
    running = begin(
        project, "provider", "test", executable, THING, "--inputs", "inputs.yaml", "--law", "L2", "--law", "L5"
    )
    said = ""
    while "L2 holds" not in said:
        line = running.stdout.readline() if running.stdout else ""
        assert line, said
        said += line
    wait_for(folder / "world" / "here-it-1.json")
    running.send_signal(signal.SIGINT)
    rest, _ = running.communicate(timeout=MAX_SECONDS)
    assert running.returncode == 8, rest
    assert "error: stopped: what the present law had made was deleted" in rest
    assert not World(folder / "world").objects()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize(
    ("inputs", "more", "code", "told"),
    [
        ("[", (), 2, "inputs.yaml"),
        ("7", (), 2, "it has neither a list of inputs nor an object with the member `inputs`"),
        ("[]", (), 2, "there are no `inputs`"),
        ("{inputs: [{size: 1}], volatil: [url]}", (), 2, "unknown field `volatil`"),
        ("{inputs: [{size: 1}], waive: {L99: why}}", (), 2, "`waive` names L99, which is no law"),
        ("[{size: 1, text: alpha}]", ("--law", "L99"), 2, "there is no law L99"),
        ("[{size: 1}]", ("--config", "region"), 2, "write it as KEY=VALUE"),
        (
            "[{size: 1}]",
            ("--config", "region=nowhere"),
            2,
            "'probe' refuses its configuration: region: there is no such region",
        ),
        ("[{size: 1}]", ("--inputs", "missing.yaml"), 2, "missing.yaml"),
    ],
)
def test_bad_input_of_the_command_line_is_told(
    project: Project, folder: Path, inputs: str, more: tuple[str, ...], code: int, told: str
) -> None:
    if "--inputs" in more:
        project.environment["PROBE_WORLD"] = str(folder / "world")
        ran = project.run("provider", "test", str(folder / "pulumi-resource-probe"), THING, *more, code=code)
        assert told in ran.stderr
        return
    assert told in judged(project, folder, inputs, *more, code=code)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize(
    ("plugin", "kind", "code", "told"),
    [
        ("nowhere", "nowhere:index:Thing", 2, "no law was tried: no resource plugin 'pulumi-resource-nowhere'"),
        ("./missing", THING, 2, "there is no plugin"),
        ("./inputs.yaml", THING, 2, "is not called pulumi-resource-probe"),
        ("other", THING, 2, "is of the package 'probe', and not of 'other'"),
        ("probe", "Thing", 2, "is no type of a package"),
    ],
)
def test_the_command_line_names_a_plugin_that_is_not_there(
    project: Project, plugin: str, kind: str, code: int, told: str
) -> None:
    project.write("inputs.yaml", "[{size: 1}]")
    ran = project.run("provider", "test", plugin, kind, "--inputs", "inputs.yaml", code=code)
    assert told in ran.stderr


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plugin_that_does_not_come_up_is_told_with_its_last_words(project: Project) -> None:
    project.write("inputs.yaml", "[{size: 1}]")
    plugin = project.write("bin/pulumi-resource-probe", "#!/bin/sh\necho no token in the environment >&2\nexit 3\n")
    plugin.chmod(0o755)
    ran = project.run("provider", "test", "./bin", THING, "--inputs", "inputs.yaml", code=2)
    first = (
        "error: no law was tried: the plugin of the package 'probe': it ended before it told its port (exit status: 3)"
    )
    assert ran.stderr.splitlines() == [first, "It printed:", "no token in the environment"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize(
    ("kind", "inputs", "told"),
    [
        ("Thing", {"txt": "a"}, "inputs[0].txt: the schema of 'mini' has no such property; did you mean 'text'?"),
        ("Thing", {}, "inputs[0].text: it is missing, and the schema of 'mini' requires it"),
        ("Thing", {"text": 1}, "inputs[0].text: it is a number, and the schema of 'mini' wants a string"),
        ("Think", {"text": "a"}, "the schema of 'mini' has no such resource or function; did you mean"),
    ],
)
def test_inputs_that_do_not_fit_the_schema_of_a_plugin_are_told_before_any_law_is_tried(
    project: Project, kind: str, inputs: dict[str, Any], told: str
) -> None:
    plugin = project.write("bin/pulumi-resource-mini", f'#!/bin/sh\nexec "{sys.executable}" "{MINI}" "$@"\n')
    plugin.chmod(0o755)
    project.environment["MINI_SEEN"] = str(project.directory / "asked")
    words = ("provider", "test", "./bin", f"mini:index:{kind}", "--inputs", "inputs.yaml", "--law", "L1")

    project.write("inputs.yaml", json.dumps([inputs]))
    said = project.run(*words, code=2).stderr
    assert said.startswith("error: no law was tried: ")
    assert told in said
    assert "Check \n" not in project.directory.joinpath("asked").read_text()

    project.write("inputs.yaml", json.dumps({"inputs": [inputs], "waive": {"schema": "it is older than the plugin"}}))
    assert "1 law: " in project.run(*words, code=None).stdout
