"""What the tests of the mixed examples ask of the vault's folder and of the files of a project."""

import json
from pathlib import Path

from examples.harness import Project

FOLDER = "passwords"


def kept_in_vault(project: Project) -> dict[str, str]:
    """The passwords in the vault, by the names of their resources."""
    files = (project.folder / FOLDER).glob("*.json")
    return {file.stem.rpartition("-")[0]: json.loads(file.read_text())["result"] for file in files}


def remove_from_vault(project: Project, name: str) -> None:
    [file] = (project.folder / FOLDER).glob(f"{name}-*.json")
    file.unlink()


def files_with(secret: str, folder: Path) -> list[Path]:
    """The files below a folder in which a text stands, save those of the vault and what is installed."""
    not_ours = {FOLDER, "node_modules", "venv", "__pycache__"}
    files = [path for path in folder.rglob("*") if path.is_file() and not not_ours & set(path.parts)]
    assert [path for path in files if ".maloko" in path.parts], "there is no state to look at"
    return [path for path in files if secret.encode() in path.read_bytes()]
