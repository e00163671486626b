"""The laws are silent on providers that people use: the examples', the template's, and that of the kit's own tests."""

import importlib
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from night import rounds
from shop import Shop

from examples.servers.labels import LabelService
from examples.servers.widgets import WidgetService
from maloko.testing import ProviderLaws

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
TOKEN = "demo-token"

Load = Callable[[Path], Any]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports a file as its own project does, and forgets it at the end of the test."""

    def loaded(file: Path) -> Any:
        monkeypatch.syspath_prepend(str(file.parent))
        monkeypatch.delitem(sys.modules, file.stem, raising=False)
        module = importlib.import_module(file.stem)
        monkeypatch.setitem(sys.modules, file.stem, module)
        return module

    return loaded


def outcomes(provider: Any, **attributes: Any) -> dict[str, str]:
    given = {"provider": provider, "examples": rounds(3, 8), "__module__": __name__, **attributes}
    laws = type("Laws", (ProviderLaws,), given)
    verdicts = laws.verdicts(seed=20)  # type: ignore[attr-defined]
    return {
        law: it.text if it.outcome == "broken" else it.outcome for law, it in verdicts.items() if it.outcome != "holds"
    }


class Served:
    """A service as a world: begun and ended by the laws."""

    def start(self: Any) -> None:
        self.serving = ExitStack()
        self.serving.enter_context(self.running())

    def stop(self: Any) -> None:
        self.serving.close()

    @property
    def calls(self: Any) -> int:
        return sum(self.requests.values())


class Widgets(Served, WidgetService):
    def __init__(self) -> None:
        super().__init__(TOKEN)

    def objects(self) -> dict[str, Any]:
        return self.widgets

    def reset(self) -> None:
        self.widgets.clear()

    def mutate_remote(self, id_: str) -> None:
        widget = self.widgets[id_]
        widget["size"] = "small" if widget["size"] == "large" else "large"

    def delete_remote(self, id_: str) -> None:
        del self.widgets[id_]


class Labels(Served, LabelService):
    def __init__(self) -> None:
        super().__init__(TOKEN, ("acme/website", "acme/app"))

    def objects(self) -> dict[str, Any]:
        return {str(label["id"]): label for labels in self.labels.values() for label in labels.values()}

    def reset(self) -> None:
        for labels in self.labels.values():
            labels.clear()

    def mutate_remote(self, id_: str) -> None:
        label = self.objects()[id_]
        label["color"] = "111111" if label["color"] == "000000" else "000000"

    def delete_remote(self, id_: str) -> None:
        for labels in self.labels.values():
            for name in [name for name, label in labels.items() if str(label["id"]) == id_]:
                del labels[name]


class Objects:
    def objects(self) -> dict[str, Any]:
        return Shop.objects

    def reset(self) -> None:
        Shop.objects.clear()

    def delete_remote(self, id_: str) -> None:
        del Shop.objects[id_]

    def mutate_remote(self, id_: str) -> None:
        Shop.objects[id_] = {**Shop.objects[id_], "size": -1}


def test_the_provider_of_a_new_project_keeps_all_laws(tmp_path: Path, load: Load) -> None:
    shutil.copy(ROOT / "engine-cli" / "templates" / "python" / "note.py", tmp_path)
    module = load(tmp_path / "note.py")
    place = tmp_path / "notes"

    class Notes:
        def objects(self) -> list[str]:
            return [file.name for file in place.iterdir()] if place.exists() else []

        def mutate_remote(self, id_: str) -> None:
            (place / id_).write_text("something else, of more than twenty letters")

        def delete_remote(self, id_: str) -> None:
            (place / id_).unlink()

        def reset(self) -> None:
            shutil.rmtree(place, ignore_errors=True)

    inputs = st.fixed_dictionaries({"file": st.sampled_from("abc"), "text": st.text(max_size=20)})
    assert outcomes(module.NoteProvider, inputs=inputs, world=Notes) == {"L12": "needs", "L16": "needs"}


@pytest.mark.nightly
def test_the_provider_of_widgets_over_http_keeps_all_laws(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    class ConfiguredByEnvironment(Widgets):
        def start(self) -> None:
            super().start()
            monkeypatch.setenv("WIDGETS_URL", self.url)
            monkeypatch.setenv("WIDGETS_TOKEN", TOKEN)

    module = load(EXAMPLES / "widgets" / "widgets.py")
    inputs = st.fixed_dictionaries(
        {
            "title": st.from_regex(r"[a-z]{1,10}", fullmatch=True),
            "size": st.sampled_from(["small", "medium", "large"]),
        }
    )
    others = outcomes(module.WidgetProvider, inputs=inputs, world=ConfiguredByEnvironment, volatile={"revision"})
    assert others == dict.fromkeys(("L1", "L7", "L12", "L16"), "needs")


@pytest.mark.nightly
def test_the_provider_of_repository_labels_over_http_keeps_all_laws(load: Load) -> None:
    module = load(EXAMPLES / "repository-labels" / "labels.py")
    inputs = st.fixed_dictionaries(
        {
            "repository": st.sampled_from(["acme/website", "acme/app"]),
            "label": st.from_regex(r"[a-z]{3,10}", fullmatch=True),
            "color": st.from_regex(r"[0-9a-fA-F]{6}", fullmatch=True),
        },
        optional={"description": st.text(max_size=10)},
    )

    def config(world: Labels) -> dict[str, Any]:
        return {"githubToken": TOKEN, "githubApi": world.url, "secondsBetweenWrites": 0}

    others = outcomes(
        module.LabelProvider,
        inputs=inputs,
        world=Labels,
        config=staticmethod(config),
        waive={"L9": "labels are imported by OWNER/NAME/LABEL, and not by the id that GitHub gives them"},
    )
    assert others == {"L9": "waived", "L12": "needs", "L16": "needs"}


@pytest.mark.nightly
def test_the_provider_of_stable_ids_keeps_all_laws(load: Load) -> None:
    module = load(EXAMPLES / "stable-id" / "stable_id.py")
    others = outcomes(
        module.StableIdProvider,
        inputs=st.fixed_dictionaries({"size": st.integers(8, 32)}),
        waive={
            "L5": "the resource's class ignores changes of `size`",
            "L8": "nothing outside of the state remembers an identifier",
        },
    )
    needs = dict.fromkeys(("L1", "L7", "L11", "L12", "L13", "L16"), "needs")
    assert others == {**needs, "L5": "waived", "L8": "waived"}


@pytest.mark.nightly
def test_the_provider_of_the_kits_own_tests_keeps_all_laws() -> None:
    inputs = st.fixed_dictionaries({"size": st.integers(0, 9), "colour": st.sampled_from(["red", "blue"])})
    others = outcomes(Shop, inputs=inputs, world=Objects)
    assert others == dict.fromkeys(("L1", "L7", "L12", "L16"), "needs")
