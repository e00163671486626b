"""Policy packs, made with the official packages, over a program with a live provider."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from night import LONG
from policy_packs import NODE_MODULES, NODE_PACK, node_pack, python_pack

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Things(ResourceProvider):
    def create(self, props):
        return CreateResult("1", {**props, "length": len(props["text"])})

class Thing(Resource, module="test", name="Thing"):
    def __init__(self, name, text, opts=None):
        super().__init__(Things(), name, {"text": text, "length": None}, opts)

a = Thing("a", "hello")
b = Thing("b", "fixme", pulumi.ResourceOptions(depends_on=[a]))
"""
STACK = "urn:pulumi:dev::trial::pulumi:pulumi:Stack::trial-dev"
DYNAMIC = "urn:pulumi:dev::trial::pulumi-python:dynamic/test"


@pytest.fixture
def checked(project: Project) -> Project:
    project.write("__main__.py", PROGRAM)
    return project


def events_of(file: Path) -> list[tuple[str, Any]]:
    """The kind and body of each event."""
    lines = [json.loads(line) for line in file.read_text().split("\n") if line]
    return [next((kind, body) for kind, body in line.items() if kind.endswith("Event")) for line in lines]


def names_of_state(project: Project) -> list[str]:
    return [
        it["urn"].rpartition("::")[2] for it in json.loads(project.state())["checkpoint"]["latest"].get("resources", [])
    ]


def test_packs_of_both_languages_rewrite_look_at_resources_and_look_at_the_stack(checked: Project) -> None:
    packs = ["--policy-pack", python_pack(checked, "pack"), "--policy-pack", node_pack(checked, "js")]
    log = checked.directory / "events"
    shown = checked.run("preview", "--event-log", str(log), *packs).stdout
    section = shown[shown.index("Policies:") : shown.index("Resources:")]
    assert section == (
        "Policies:\n"
        "    ⚠️ pack-js@v0.0.7 (local: js)\n"
        "        - [advisory]  stack  (pulumi:pulumi:Stack: trial-dev)\n"
        "          stack policy\n"
        "          a,b,default,trial-dev\n"
        "    ⚠️ pack-py@v0.9.9 (local: pack)\n"
        "        - [remediate]  fix  (1 resource)\n"
        "        - [advisory] [severity: high]  short  (pulumi-python:dynamic/test:Thing: a)\n"
        "          text is short\n"
        "          text is long: hello\n"
        "        - [advisory]  count  (pulumi-python:dynamic/test:Thing: b)\n"
        "          counts\n"
        "          4 resources\n"
        "\n"
    )
    events = events_of(log)
    assert [kind for kind, _ in events[:3]] == ["policyLoadEvent", "policyLoadEvent", "preludeEvent"]
    told = [(kind, body) for kind, body in events if kind.startswith("policy") and kind != "policyLoadEvent"]
    b = f"{DYNAMIC}:Thing::b"
    of_b = [(kind, body) for kind, body in told if body.get("resourceUrn") == b]
    pack = {"policyPackName": "pack-py", "policyPackVersion": "0.9.9", "policyPackVersionTag": "0.9.9"}
    assert of_b[0] == (
        "policyRemediationEvent",
        {"resourceUrn": b, "color": "raw", "policyName": "fix", **pack, "before": {"text": "fixme"}}
        | {"after": {"text": "ok"}},
    )
    assert of_b[1] == (
        "policyRemediateSummaryEvent",
        {"resourceUrn": b, **pack, "passed": ["short"], "failed": ["fix"]},
    )
    # The stack, the provider and both resources, each by both packs.
    assert sum(kind == "policyAnalyzeSummaryEvent" for kind, _ in told) == 8
    assert {body.get("resourceUrn") for _, body in told} >= {STACK, f"{DYNAMIC}:Thing::a"}
    summary = next(body for kind, body in events if kind == "summaryEvent")
    assert summary["PolicyPacks"] == {"pack-py|local|pack": "0.9.9", "pack-js|local|js": "0.0.7"}
    each = checked.run("preview", "--show-policy-remediations", *packs[:2]).stdout
    assert "- [remediate]  fix  (pulumi-python:dynamic/test:Thing: b) [diff: ~text]" in each


def test_what_is_rewritten_is_made_and_stored_and_what_is_secret_stays_so(checked: Project) -> None:
    program = PROGRAM.replace('"hello"', 'pulumi.Output.secret("s3cretvalue")').replace(
        '"fixme"', "a.length.apply(lambda n: str(int(n)))"
    )
    checked.write("__main__.py", program + 'Thing("c", "fixme")\n')
    rewrites = """
    if args.resource_type.endswith("Thing") and args.name == "a":
        return {**args.props, "text": args.props["text"] + "!"}
"""
    code = python_code("def fix(args):" + rewrites)
    done = checked.run("up", "--yes", "--policy-pack", python_pack(checked, "pack", code))
    said = done.stdout + done.stderr
    assert "can't run policy 'short' from policy pack" in said  # unknown in the preview, known afterwards
    assert "s3cretvalue" not in said
    assert "text is long: [secret]" in said
    state = checked.state()
    assert "s3cretvalue" not in state
    resources = {it["urn"].rpartition("::")[2]: it for it in json.loads(state)["checkpoint"]["latest"]["resources"]}
    assert resources["b"]["inputs"]["text"] == str(len("s3cretvalue!"))
    # Once more: what was rewritten is what is compared.
    again = checked.run("up", "--yes", "--skip-preview", "--policy-pack", "pack").stdout
    assert "4 unchanged" in again


def python_code(fix: str) -> str:
    """The usual pack with another rewriting."""
    from policy_packs import PYTHON_PACK

    before, _, after = PYTHON_PACK.partition("def fix(args):")
    return before + fix + "\nPolicyPack(" + after.partition("\nPolicyPack(")[2]


def test_a_mandatory_policy_fails_a_preview_after_all_and_an_update_at_once(checked: Project) -> None:
    checked.write("config.json", '{"short": {"max": 2, "enforcementLevel": "mandatory"}}')
    with_pack = ["--policy-pack", python_pack(checked, "pack"), "--policy-pack-config", "config.json"]
    previewed = checked.run("preview", *with_pack, code=1).stdout
    assert "❌ pack-py@v0.9.9" in previewed
    assert "[mandatory] [severity: high]  short  (pulumi-python:dynamic/test:Thing: a)" in previewed
    assert "- [advisory]  count" in previewed
    assert "preview failed: 1 violation of mandatory policies" in previewed
    assert "Resources:" not in previewed
    log = checked.directory / "events"
    updated = checked.run("up", "--yes", "--skip-preview", *with_pack, "--event-log", str(log), code=1)
    assert "it violates the policy 'short' of pack-py@v0.9.9" in updated.stdout
    assert set(names_of_state(checked)) <= {"trial-dev", "default"}
    assert not [body for kind, body in events_of(log) if body.get("resourceUrn", "").endswith("::b")]
    summary = next(body for kind, body in events_of(log) if kind == "summaryEvent")
    assert summary["result"] == "failed"
    # A stack policy comes when all is done.
    checked.write("config.json", '{"all": "disabled", "count": "mandatory"}')
    done = checked.run("up", "--yes", "--skip-preview", *with_pack, code=1).stdout
    assert "update failed: 1 violation of mandatory policies" in done
    assert {"a", "b"} <= set(names_of_state(checked))
    # The state alone can be looked at, too.
    checked.write("config.json", '{"all": "advisory", "short": {"max": 3, "enforcementLevel": "mandatory"}}')
    found = json.loads(checked.run("policy", "analyze", *with_pack, "--json", code=1).stdout)["violations"]
    assert [(it["policyName"], it["resourceUrn"].rpartition("::")[2]) for it in found] == [
        ("short", "a"),
        ("short", "b"),
        ("count", "b"),
    ]


def test_a_pack_that_cannot_be_used_ends_the_run_before_anything_is_done(checked: Project) -> None:
    def refusal(*flags: str, code: int = 1, **variables: str) -> str:
        done = checked.run("up", "--yes", "--skip-preview", *flags, code=code, **variables)
        assert names_of_stacks(checked) == []
        return done.stderr

    broken = {
        "nothing": ("", "", "has no PulumiPolicy.yaml that can be read"),
        "rust": ("x", "runtime: rust", "has the runtime 'rust'; maloko runs packs of python and nodejs"),
        "exits": ("raise SystemExit(3)", "", "it ended before it told its port"),
        "prints": (
            "print('hi', flush=True)\n",
            "",
            "its first line has to be the port on which it listens, and is 'hi'",
        ),
        "lacks": ("import not_there", "", "dependencies are not installed; try running maloko policy install"),
    }
    for name, (text, manifest, said) in broken.items():
        folder = name if not text else python_pack(checked, name, text, manifest)
        told = refusal("--policy-pack", folder)
        assert said in told, name
        assert f'policy pack "{folder}" failed to start' in told
    checked.write("bare/PulumiPolicy.yaml", "runtime: nodejs")
    assert "npm install or yarn install" in refusal("--policy-pack", "bare")
    pack = python_pack(checked, "pack")
    mismatch = refusal("--policy-pack", pack, "--policy-pack", pack, "--policy-pack-config", "c", code=2)
    assert 'the number of "--policy-pack-config" flags must match the number of "--policy-pack" flags' in mismatch
    for config, said in {
        '{"short": "fierce"}': "has the enforcement level 'fierce', which is unknown",
        '{"short": {"max": "two"}}': "validating policy config: pack-py 0.9.9  short: max:",
        '{"environments": ["a"]}': "Pulumi ESC",
        "[]": "has to be an object",
    }.items():
        checked.write("config.json", config)
        assert said in refusal("--policy-pack", pack, "--policy-pack-config", "config.json")
    assert "is a part of Pulumi Cloud" in checked.run("policy", "publish", code=2).stderr


def names_of_stacks(project: Project) -> list[str]:
    resources = json.loads(project.state())["checkpoint"]["latest"] or {}
    return [it["urn"] for it in resources.get("resources") or []]


def test_a_pack_that_fails_or_hangs_at_a_resource_ends_the_run_there(checked: Project) -> None:
    def said_of(validate: str, **variables: str) -> str:
        code = f"""
import os, time
from pulumi_policy import *

def look(args, report):
    if args.name == "a":
        {validate}

looks = ResourceValidationPolicy("look", "looks", look)
PolicyPack("pack", enforcement_level=EnforcementLevel.MANDATORY, policies=[looks])
"""
        done = checked.run(
            "up", "--yes", "--skip-preview", "--policy-pack", python_pack(checked, "pack", code), code=1, **variables
        )
        assert set(names_of_state(checked)) <= {"trial-dev", "default"}
        return done.stdout

    assert "failed to run policy: the policy pack 'pack@v0.9.9'" in said_of("raise ValueError('no')")
    assert "it has not answered within 1 s" in said_of("time.sleep(60)", MALOKO_POLICY_SECONDS="1")
    if LONG:
        assert "its process ended" in said_of("os._exit(3)")
        # A finding about another resource is shown on the one that the pack was asked about.
        other = said_of("report('other', 'urn:pulumi:dev::trial::x:y:z::other')")
        assert "look  (pulumi-python:dynamic/test:Thing: a)" in other


def test_a_pack_in_node_is_found_with_its_packages(checked: Project) -> None:
    assert (NODE_MODULES / "@pulumi" / "policy").is_dir()
    code = NODE_PACK.replace('"forbidden"', '"hello"')
    done = checked.run("up", "--yes", "--skip-preview", "--policy-pack", node_pack(checked, "js", code), code=1)
    assert "hello is forbidden" in done.stdout


def test_a_pack_in_node_loads_what_serialises_closures_when_it_is_called(checked: Project) -> None:
    code = """
const { PolicyPack } = require("@pulumi/policy");
const { runtime } = require("@pulumi/pulumi");
const compiled = () => Object.keys(require.cache).some((file) => file.endsWith("/typescript.js"));
const early = compiled();
new PolicyPack("late", { enforcementLevel: "advisory", policies: [
    { name: "closure", description: "a closure", validateResource: async (args, report) => {
        if (args.type.endsWith("Thing")) {
            const { text } = await runtime.serializeFunction(() => "made here");
            report(`${early}, then ${compiled()}: ${text.includes("made here")}`);
        }
    } },
] });
"""
    done = checked.run("up", "--yes", "--skip-preview", "--policy-pack", node_pack(checked, "js", code))
    assert "false, then true: true" in done.stdout


@pytest.mark.nightly
def test_packs_are_told_the_tags_of_the_stack(checked: Project) -> None:
    code = """
from pulumi_policy import PolicyPack, ResourceValidationPolicy

def look(args, report):
    if args.name == "a":
        report(f"for {args.stack_tags.get('team', 'nobody')}")

PolicyPack("tags", policies=[ResourceValidationPolicy("look", "d", look)])
"""
    pack = python_pack(checked, "pack", code)
    assert "for nobody" in checked.run("preview", "--policy-pack", pack).stdout
    checked.run("stack", "tag", "set", "team", "payments")
    assert "for payments" in checked.run("preview", "--policy-pack", pack).stdout
