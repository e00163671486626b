"""The Python blocks of the documents: type-checked, and run where they stand alone. The tutorial has its own test."""

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pulumi
import pytest
from night import LONG, rounds

import maloko
from maloko import automation
from maloko.testing import Kit

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NAMES = Path(__file__).parent / "documents"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "tutorials"]
# In a page about the kit `maloko` is the fixture; `world` and `maloko` of a test are parameters.
FIXTURE = "from maloko.testing import Kit\nmaloko: Kit\n"
OPTIONS = (
    "--no-error-summary",
    "--check-untyped-defs",
    "--ignore-missing-imports",
    # A block defines anew what `names` has, and need not use types.
    "--disable-error-code=no-redef",
    # The SDK's base class has no asynchronous methods.
    "--disable-error-code=override",
)


OF_THE_KIT = ("policies.md", "testing.md")
"""The pages on which `maloko` is the fixture of the testing kit."""


def blocks_of(page: Path) -> list[tuple[int, str]]:
    """The line and the text of each Python block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start()) + 2, block[1]) for block in found]


def module_of(page: Path, text: str) -> str:
    """A module with a block in it. What only a function may hold is in one."""
    fixture = FIXTURE if page.name in OF_THE_KIT else ""
    if re.match(r"return |await ", text):
        text = "def block():\n" + textwrap.indent(text, "    ")
    return f"from names import *\n{fixture}{text}"


def unknown_members(page: Path, module: str) -> list[str]:
    """Members of modules that are not there: those that load their members when asked pass any type checker."""
    known = {"maloko": Kit if page.name in OF_THE_KIT else maloko, "auto": automation, "pulumi": pulumi}
    used = [(node.value, node.attr) for node in ast.walk(ast.parse(module)) if isinstance(node, ast.Attribute)]
    named = [(value.id, member) for value, member in used if isinstance(value, ast.Name) and value.id in known]
    return [f"{name}.{member}" for name, member in named if not hasattr(known[name], member)]


@pytest.mark.nightly
def test_the_blocks_of_the_documents_pass_the_type_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(NAMES))
    places: dict[str, str] = {}
    for page in PAGES:
        for line, text in blocks_of(page):
            name = f"{page.stem.replace('-', '_')}_{line}.py"
            places[name] = f"{page.relative_to(ROOT)}:{line}"
            module = module_of(page, text)
            assert not unknown_members(page, module), places[name]
            (tmp_path / name).write_text(module, encoding="utf-8")
    assert len(places) > 15
    cache = ROOT / ".mypy_cache" / "documents"
    files = [str(tmp_path / name) for name in places]
    # Not in this process: mypy raises its recursion limit, for good.
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={cache}", *OPTIONS, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    faults = [
        f"{next((place for name, place in places.items() if name in line), 'python-tests/published/documents')}: {line}"
        for line in f"{done.stdout}{done.stderr}".splitlines()
    ]
    assert not faults, "\n".join(faults)


def test_the_examples_of_the_kit_s_documents_run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "maloko.testing.plugin,_hypothesis_pytestplugin")
    monkeypatch.setenv("PYTHONPATH", str(NAMES))
    kit = [text for _, text in blocks_of(DOCS / "how-to" / "testing.md")]
    laws = [text for _, text in blocks_of(DOCS / "reference" / "provider-laws.md")]
    crash = next(text for text in kit if "crash_everywhere" in text)
    parts = {
        "test_bucket.py": kit[0],
        "test_laws.py": f"from bucket import BucketProvider, FakeCloud\n{laws[0]}",
        "test_recovers.py": f"""
import pytest
from bucket import Bucket, BucketProvider, FakeCloud

def program():
    for number in range(10):
        Bucket(f"b{{number}}", acl="private")

@pytest.fixture
def world():
    BucketProvider.clouds[0] = FakeCloud()
    return BucketProvider.clouds[0]
{crash.replace("@crash_everywhere()", "@crash_everywhere(['kill'], sample=5)")}""",
    }
    for name, text in parts.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    # Two of the laws: the tutorial tries all of them, and lifecycles.
    # By day without what is cut off at five points.
    recovers = "or test_recovers" if LONG else ""
    result = pytester.runpytest_subprocess("-q", "-k", f"test_bucket or l2_ or l9_ {recovers}")
    result.assert_outcomes(passed=9 if LONG else 3, deselected=rounds(17, 16))
