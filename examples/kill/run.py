"""Kills an `up` of thirty labels at random moments and sees that the next one sets everything right.

    python -m examples.kill.run --lang python --kills 50 --seed 1 [--store s3 --jobs 6]

Every round is a new stack and a new label service. The command line is killed (SIGKILL, with all its children) some
milliseconds after a number of requests has come in, both drawn from the seed. Then:

- the next `up` succeeds, and the service holds exactly the labels of the program;
- a label that this `up` had to create a second time (the service had it already, the state did not) was named by it;
- one more `up` changes nothing and sends no request; a destroy leaves the service empty.

Where a store waits for a sign of life of the holder that was killed, several rounds go on at a time (`--jobs`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from examples.harness import LANGUAGES, Project, changes_of, labels_project
from examples.kill.stores import STORES, store
from examples.servers.labels import LabelService

REPOSITORY = "acme/website"
LABELS = {f"area-{number:02}": f"{number * 5000:06x}" for number in range(30)}
DELAY = 0.01
PATIENCE = 60.0


@dataclass
class Moment:
    """When the kill came: seconds after the start, requests by then, labels made by then."""

    seconds: float
    requests: int
    labels: int
    finished: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", required=True, choices=LANGUAGES)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=STORES, default="directory")
    parser.add_argument("--jobs", type=int, default=1, help="how many rounds go on at a time")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    moments = [(draw.randint(0, len(LABELS)), draw.uniform(0, 4 * DELAY)) for _ in range(options.kills)]
    with (
        tempfile.TemporaryDirectory(prefix="maloko-kill-") as name,
        store(options.store) as environment,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        folder = Path(name)
        template = folder / "template"
        template.mkdir()
        # In a directory, the state is the project's own, which has a key file.
        elsewhere = options.store != "directory"
        prepared = prepare(options.lang, template, "kill" if elsewhere else None)

        def one(number: int) -> bool:
            place = folder / f"round-{number}"
            shutil.copytree(template, place, symlinks=True)
            try:
                project = moved(prepared, template, place, environment(place) if elsewhere else {})
                if elsewhere:
                    project.must("stack", "init", "dev")
                line, passed = kill_once(project, *moments[number - 1]), True
            except AssertionError as error:
                line, passed = f"FAILED: {error}", False
            print(f"kill {number:2} of {options.kills}, {options.lang}, {options.store}: {line}", flush=True)
            shutil.rmtree(place)
            return passed

        failed = list(pool.map(one, range(1, options.kills + 1))).count(False)
    print(f"{options.kills} kills, {options.lang}, {options.store}, seed {options.seed}: {failed} failed")
    sys.exit(1 if failed else 0)


def prepare(language: str, folder: Path, passphrase: str | None) -> Project:
    """A stack with the thirty labels in its configuration and nothing deployed."""
    project = labels_project(language, folder, "http://127.0.0.1:1", passphrase=passphrase)
    settings = project.folder / "Pulumi.dev.yaml"
    lines = settings.read_text().splitlines()
    start = lines.index("  repository-labels:labels:")
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith("    ")), len(lines))
    lines[start + 1 : end] = [f'    {name}: {{color: "{color}"}}' for name, color in LABELS.items()]
    settings.write_text("\n".join(lines) + "\n")
    return project


def moved(project: Project, source: Path, target: Path, environment: dict[str, str]) -> Project:
    """The same project in a copy of its folder, with a store of its own."""
    twin = object.__new__(Project)
    twin.__dict__.update(project.__dict__)
    twin.folder = target / project.folder.relative_to(source)
    twin.env = {**project.env, **environment}
    return twin


def kill_once(project: Project, after: int, pause: float) -> str:
    """One round; gives the line to be printed, raises AssertionError when the next run did not set things right."""
    service = LabelService(token="right")
    service.delay = DELAY
    with service.running():
        settings = project.folder / "Pulumi.dev.yaml"
        settings.write_text(settings.read_text().replace("http://127.0.0.1:1\n", f"{service.url}\n"))
        moment = killed(project, service, after, pause)
        service.repeated.clear()
        made_by_first = service.made

        done = project.run("up", "--yes", "--skip-preview", "--json")
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise AssertionError(f"the next up failed with exit code {done.returncode}\n{said}")
        same("labels after the next up", service.colors(REPOSITORY), LABELS)
        unresolved = sorted(set(service.repeated))
        unnamed = [name for name in unresolved if not named_as_unresolved(name, said)]
        if unnamed:
            raise AssertionError(f"created twice and not named as unresolved: {unnamed}\n{said}")

        service.requests.clear()
        same("a third up", project.up(), {"same": len(LABELS) + 1})
        same("requests of a third up", dict(service.requests), {})
        project.destroy()
        same("labels after the destroy", service.colors(REPOSITORY), {})
    end = "had ended" if moment.finished else f"{made_by_first} labels made"
    changes = changes_of(done.stdout)
    return (
        f"{moment.seconds:6.3f} s after the start, {moment.requests:2} requests in, {end}; "
        f"then {changes.get('create', 0)} created, {len(unresolved)} of them unresolved"
    )


def killed(project: Project, service: LabelService, after: int, pause: float) -> Moment:
    """Starts an `up` and kills it `pause` seconds after that many requests came in."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [project.cli, "up", "--yes", "--skip-preview", "--json"],
        cwd=project.folder,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while service.requests.total() < after and process.poll() is None:
        if time.monotonic() - begin > PATIENCE:
            break
        time.sleep(0.0005)
    time.sleep(pause)
    seconds, finished = time.monotonic() - begin, process.poll() is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    service.settle()  # requests that were under way reach the service all the same
    return Moment(seconds, service.requests.total(), service.made, finished)


def named_as_unresolved(name: str, said: str) -> bool:
    """Whether a line of the output names the label's resource and says that its create was interrupted."""
    return any(name in line and "interrupted while" in line for line in said.splitlines())


def same(what: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: expected {wanted}, got {got}")


if __name__ == "__main__":
    main()
