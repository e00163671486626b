"""Writes the table of the official Automation API's methods: what came of calling each, in Python and in Node.

`table.py FILE` writes it; `table.py FILE --check` fails where it says something else than the file. Both packages are
taken from this tree, as `make .build/python .build/node` installs them.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
NODE_TESTS = ROOT / "node-tests"
NODE_BIN = NODE_TESTS / "node_modules" / ".bin"
PYTHON = ROOT / ".venv" / "bin" / "python"

# What one language calls otherwise than the other.
SAME = {"Stack.import": "Stack.import_resources"}

HEAD = """\
# The official Automation API on maloko

`make automation-table` writes this page. It calls each method of the official packages, unmodified, with a `pulumi` on
PATH that is maloko ([how](../how-to/other-languages.md#tools-that-call-pulumi)). It checks what the API promises of it:
types and values of results, classes of errors. State is in a directory. `refused` is an error with the reason in it.
What a language's API does not have is `-`.

| method, as Python has it | Python | Node | |
| --- | --- | --- | --- |
"""


def rows_of(language: str) -> dict[str, tuple[str, str]]:
    """Results and notes by the method's name in Python."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in ("work", "state", "tools", "home"):
            (folder / name).mkdir()
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI", "MALOKO"))}
        environment |= {
            "PULUMI_BACKEND_URL": f"file://{folder}/state",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        if language == "python":
            maloko = [str(PYTHON), "-m", "maloko"]
            command = [str(PYTHON), str(HERE / "methods.py"), str(folder / "work")]
        else:
            environment["PATH"] = f"{NODE_BIN}:{environment['PATH']}"
            maloko = [str(NODE_BIN / "maloko")]
            command = ["node", str(HERE / "methods.cjs"), str(folder / "work"), str(NODE_TESTS)]
        subprocess.run(
            [*maloko, "shim", "install", str(folder / "tools")], env=environment, check=True, capture_output=True
        )
        environment["PATH"] = f"{folder}/tools:{environment['PATH']}"
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    rows = {}
    for line in ran.stdout.splitlines():
        row = json.loads(line)
        rows[in_python(row["method"])] = (row["result"], row["note"])
    failures = [f"{name}: {note}" for name, (result, note) in rows.items() if result == "fails"]
    if failures or ran.returncode:
        raise SystemExit("\n".join([f"{language}:", *failures, ran.stderr]))
    return rows


def in_python(method: str) -> str:
    """The name that Python has for a method."""
    owner, dot, name = method.rpartition(".")
    if method in SAME or owner == "errors" or " " in method:
        return SAME.get(method, method)
    return owner + dot + re.sub(r"([A-Z])", r"_\1", name).lower()


def table(python: dict[str, tuple[str, str]], node: dict[str, tuple[str, str]]) -> str:
    lines = []
    for name in sorted({*python, *node}, key=lambda name: (name.startswith("errors"), " " in name, name.lower())):
        (here, note), (there, other) = python.get(name, ("-", "")), node.get(name, ("-", ""))
        lines.append(f"| `{name}` | {here} | {there} | {note or other} |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        python, node = pool.map(rows_of, ("python", "node"))
    text = table(python, node)
    if not arguments.check:
        arguments.file.write_text(text)
    elif arguments.file.read_text() != text:
        sys.exit(f"{arguments.file} says something else than what came of the methods; run `make automation-table`")


if __name__ == "__main__":
    main()
