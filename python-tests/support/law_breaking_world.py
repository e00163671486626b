"""The world of the plugin that breaks laws (`plugins/law_breaking_plugin.py`), and its executable."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

THING = "probe:index:Thing"
PLUGIN = Path(__file__).parents[1] / "plugins" / "law_breaking_plugin.py"


class World:
    """What the plugin talks to: a folder with a file for each object."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def objects(self) -> dict[str, Any]:
        return {path.stem: json.loads(path.read_text()) for path in self.folder.glob("*.json")}

    def reset(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink()

    def mutate_remote(self, id_: str) -> None:
        self.folder.joinpath(f"{id_}.json").write_text(json.dumps({**self.objects()[id_], "text": "drifted"}))

    def delete_remote(self, id_: str) -> None:
        self.folder.joinpath(f"{id_}.json").unlink()


@contextlib.contextmanager
def plugin_in(folder: Path) -> Iterator[None]:
    """Puts the plugin's executable and its world into a folder; the environment names that world meanwhile."""
    (folder / "world").mkdir()
    script = folder / "pulumi-resource-probe"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PLUGIN}" "$@"\n')
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBE_WORLD", str(folder / "world"))
        yield
