"""Writes the table of what policy packs can do, after it has tried each row with packs and programs of both languages.

`table.py FILE` writes it; `table.py FILE --check` fails where it says something else than the file. Both packages are
taken from this tree, as `make .build/python .build/node` installs them. The packs are made with the official packages.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
NODE_MODULES = ROOT / "node-tests" / "node_modules"
COMMANDS = {
    "python": [str(ROOT / ".venv" / "bin" / "python"), "-m", "maloko"],
    "node": [str(NODE_MODULES / ".bin" / "maloko")],
}
SECRET = "s3cretvalue"

HEAD = """\
# What policy packs can do on maloko

`make policy-table` writes this page. For each row it runs a pack that is made with the official package, unmodified,
over a program with dynamic resources ([how](../how-to/policies.md)). Both languages' packs look at both languages'
programs: "Node on Python" is Node's pack and Python's program.

| row | Python on Python | Node on Python | Python on Node | Node on Node |
| --- | --- | --- | --- | --- |
"""
FOOT = """\

Not there: packs in other languages, `pulumi-analyzer-policy-opa`, and what Pulumi Cloud does (publishing, groups,
exceptions, environments in configurations).
"""


class Trial:
    """A program, a pack and the command line, in a folder of their own."""

    def __init__(self, folder: Path, pack: str, program: str) -> None:
        self.folder = folder
        self.command = COMMANDS[program]
        shutil.copytree(HERE / f"program_{program}", folder / "program")
        for name in ("python", "node"):
            shutil.copytree(HERE / f"pack_{name}", folder / name)
        for place in ("program", "node"):
            (folder / place / "node_modules").symlink_to(NODE_MODULES)
        self.pack = ["--policy-pack", str(folder / pack)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))}
        self.environment = {
            **kept,
            "PATH": f"{ROOT}/.venv/bin:{kept['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{folder}/state",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_HOME": str(folder / "home"),
        }
        (folder / "state").mkdir()
        self.said(0, "stack", "init", "dev")
        self.said(0, "stack", "tag", "set", "team", "payments")
        self.previewed = self.run(0, "preview", *self.configured({"configured": {"max": 2}}))
        self.updated = self.run(0, "up", "--yes", "--skip-preview", *self.pack)
        self.state = self.said(0, "stack", "export")

    def configured(self, config: Any) -> list[str]:
        """The pack with a file of configuration."""
        file = self.folder / "config.json"
        file.write_text(json.dumps(config))
        return [*self.pack, "--policy-pack-config", str(file)]

    def said(self, code: int, *arguments: str) -> str:
        """What a command prints. Fails when its exit code is another one."""
        ran = subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder / "program",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        output = ran.stdout + ran.stderr
        assert ran.returncode == code, f"`{' '.join(arguments)}` ended with {ran.returncode}: {output}"
        assert SECRET not in output, f"`{arguments[0]}` printed the secret"
        return output

    def run(self, code: int, *arguments: str) -> "Run":
        """What an operation prints, and its events."""
        log = self.folder / "events.jsonl"
        log.unlink(missing_ok=True)
        text = self.said(code, *arguments, "--event-log", str(log))
        lines = [json.loads(line) for line in log.read_text().splitlines() if line] if log.exists() else []
        return Run(text, [(kind, body) for line in lines for kind, body in line.items() if kind.endswith("Event")])


class Run:
    """An operation that has ended."""

    def __init__(self, text: str, events: list[tuple[str, Any]]) -> None:
        self.text = text
        self.events = events

    def of(self, kind: str) -> list[Any]:
        """The events of a kind."""
        return [body for found, body in self.events if found == kind]

    def violations(self, policy: str) -> list[Any]:
        """The violations of a policy."""
        return [body for body in self.of("policyEvent") if body["policyName"] == policy]

    def message(self, policy: str) -> str:
        """The message of the one violation of a policy, without its description."""
        [violation] = self.violations(policy)
        return plain(violation)


def plain(violation: Any) -> str:
    """The last line of a message, without commands for a terminal's colours."""
    text = str(violation["message"]).replace("<{%reset%}>", "").strip()
    return text.splitlines()[-1].strip()


def expect(found: object, wanted: object) -> None:
    """Fails when they differ."""
    assert found == wanted, f"{found!r} in place of {wanted!r}"


def resource_policies(it: Trial) -> None:
    expect(it.previewed.message("says"), "hello")
    expect(it.previewed.violations("says")[0]["enforcementLevel"], "advisory")
    assert it.previewed.violations("says")[0]["resourceUrn"].endswith("::a")


def stack_policies(it: Trial) -> None:
    expect(it.updated.message("names"), "a,b")


def remediation(it: Trial) -> None:
    [told] = it.updated.of("policyRemediationEvent")
    expect((told["before"]["text"], told["after"]["text"]), ("fixme", "fixed"))
    [made] = [one for one in json.loads(it.state)["deployment"]["resources"] if one["urn"].endswith("::b")]
    expect((made["inputs"]["text"], made["outputs"]["text"]), ("fixed", "fixed"))


def mandatory(it: Trial) -> None:
    run = it.run(1, "preview", *it.configured({"says": "mandatory"}))
    expect([one["enforcementLevel"] for one in run.violations("says")], ["mandatory"])
    assert "1 violation of mandatory policies" in run.text


def disabled(it: Trial) -> None:
    expect(it.run(0, "preview", *it.configured({"all": "disabled"})).of("policyEvent"), [])


def severity(it: Trial) -> None:
    expect(it.previewed.violations("severe")[0]["severity"], "high")


def configuration(it: Trial) -> None:
    expect((it.previewed.message("configured"), it.updated.message("configured")), ("max 2", "max 4"))
    assert "max" in it.run(1, "preview", *it.configured({"configured": {"max": "two"}})).text


def initial_configuration(it: Trial) -> None:
    expect(it.updated.message("initial"), "max 3")


def not_applicable(it: Trial) -> None:
    expect(it.updated.violations("left-out"), [])
    for body in it.updated.of("policyAnalyzeSummaryEvent"):
        if body["resourceUrn"].endswith("::a"):
            assert "left-out" not in [*body.get("passed", []), *body.get("failed", [])]


def unknown_values(it: Trial) -> None:
    [violation] = it.previewed.violations("unknown")
    expect(violation["enforcementLevel"], "advisory")
    assert "can't run policy 'unknown'" in violation["message"]
    expect(it.updated.message("unknown"), "later is 5")


def secret_values(it: Trial) -> None:
    expect(it.updated.message("secret"), "hidden is [secret]")
    assert SECRET not in it.state


def options_and_provider(it: Trial) -> None:
    assert it.updated.message("options").startswith("protect true, parent a, provider "), it.updated.message("options")


def parents_and_dependencies(it: Trial) -> None:
    expect(it.updated.message("dependencies"), "parent a, depends on ['a'], later on ['a']")


def stack_tags(it: Trial) -> None:
    expect(it.updated.message("tags"), "team payments")


def events(it: Trial) -> None:
    expect(len(it.updated.of("policyLoadEvent")), 1)
    assert it.updated.of("policyAnalyzeSummaryEvent")
    [summary] = it.updated.of("summaryEvent")
    expect(list(summary["PolicyPacks"].values()), ["1.0.0"])


def several_packs(it: Trial) -> None:
    both = [word for name in ("python", "node") for word in ("--policy-pack", str(it.folder / name))]
    expect(len(it.run(0, "preview", *both).violations("says")), 2)


def analysis_of_a_state(it: Trial) -> None:
    found = json.loads(it.said(0, "policy", "analyze", *it.pack, "--json"))["violations"]
    expect([plain(one) for one in found if one["policyName"] == "says"], ["hello"])


ROWS: dict[str, Callable[[Trial], None]] = {
    "resource policies": resource_policies,
    "stack policies": stack_policies,
    "remediation": remediation,
    "the level `mandatory`, given by a file": mandatory,
    "the level `disabled`, given by a file": disabled,
    "severities": severity,
    "configuration with a schema": configuration,
    "initial configuration of a pack": initial_configuration,
    "`notApplicable`, `not_applicable`": not_applicable,
    "unknown values in a preview": unknown_values,
    "secret values, never shown": secret_values,
    "options and provider of a resource": options_and_provider,
    "parents and dependencies, for stack policies": parents_and_dependencies,
    "stack tags": stack_tags,
    "events, and `PolicyPacks` of the summary": events,
    "several packs at once": several_packs,
    "`maloko policy analyze` of a state": analysis_of_a_state,
}


def column(pack: str, program: str) -> tuple[dict[str, str], list[str]]:
    """The result of each row, and the failures."""
    results, failures = {}, []
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), pack, program)
        for name, check in ROWS.items():
            try:
                check(trial)
                results[name] = "works"
            except (AssertionError, LookupError, ValueError) as error:
                results[name] = "fails"
                failures.append(f"{pack} pack, {program} program: {name}: {type(error).__name__}: {error}")
    return results, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    pairs = [("python", "python"), ("node", "python"), ("python", "node"), ("node", "node")]
    with ThreadPoolExecutor(2) as pool:
        columns = list(pool.map(lambda pair: column(*pair), pairs))
    failures = [failure for _, failed in columns for failure in failed]
    if failures:
        sys.exit("\n".join(failures))
    rows = [f"| {name} | {' | '.join(results[name] for results, _ in columns)} |\n" for name in ROWS]
    text = HEAD + "".join(rows) + FOOT
    if not arguments.check:
        arguments.file.write_text(text)
    elif arguments.file.read_text() != text:
        sys.exit(f"{arguments.file} does not say what the packs do; run `make policy-table`")


if __name__ == "__main__":
    main()
