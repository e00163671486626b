"""Finds native packages that a program uses, without running it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from maloko._process.syntax import parsed

_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist"})


def native_packages(entry: Path) -> list[tuple[str, str, str | None]]:
    """The packages that the program needs, each with the first place and, where it imports one, the SDK's module:
    `("aws", "/shop/main.py:3", "pulumi_aws")`.

    Those are the packages whose SDKs (`pulumi_aws`) it imports, those of its remote components, and those of resources
    and functions whose type stands in the program itself.
    """
    directory = entry if entry.is_dir() else entry.parent
    found: dict[str, tuple[str, str | None]] = {}
    for file in sorted(_python_files(directory)):
        try:
            tree = parsed(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            # The run itself says what is wrong with it.
            continue
        by_type: list[tuple[str, int, str | None]] = [(*use, None) for use in (*_remote(tree), *_typed(tree))]
        for package, line, sdk in sorted([*_imported(tree), *by_type], key=lambda use: use[1]):
            found.setdefault(package, (f"{file}:{line}", sdk))
    return sorted((package, *use) for package, use in found.items())


def _python_files(directory: Path) -> Iterator[Path]:
    for place, directories, files in os.walk(directory):
        directories[:] = [
            name
            for name in directories
            if name not in _SKIPPED and not name.startswith(".") and not Path(place, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(place, file) for file in files if file.endswith(".py"))


def _imported(tree: ast.AST) -> Iterator[tuple[str, int, str | None]]:
    for name, line in _imports(tree):
        module = name.split(".")[0]
        if module.startswith("pulumi_"):
            yield module[len("pulumi_") :].replace("_", "-"), line, module


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno


def _remote(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The packages of components that are made with `remote=True` and a type that stands there as a text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        kind = node.args[0]
        if not isinstance(kind, ast.Constant) or not isinstance(kind.value, str):
            continue
        if any(_is_true(word.value) for word in node.keywords if word.arg == "remote"):
            yield kind.value.split(":")[0], node.lineno


_RESOURCES = frozenset({"CustomResource", "ProviderResource"})
_FUNCTIONS = frozenset({"invoke", "invoke_async", "invoke_output"})
_TYPE = re.compile(r"(?P<package>[A-Za-z][\w.-]*):[\w./-]+:[\w./-]+")
_OWN = frozenset({"pulumi", "pulumi-python", "pulumi-nodejs"})


def _typed(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The packages of resources and functions whose type stands there as a text, in classes of the program, too."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    of_base = {
        node: base
        for it in classes
        for base in map(_name, it.bases)
        if base in _RESOURCES
        for node in ast.walk(it)
        if isinstance(node, ast.Call) and _name(node.func) == "__init__"
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        maker, text = of_base.get(node, _name(node.func)), node.args[0].value
        if not isinstance(text, str) or maker not in _RESOURCES | _FUNCTIONS:
            continue
        found = _TYPE.fullmatch(text)
        package = text if maker == "ProviderResource" else found and found["package"]
        if package and package not in _OWN:
            yield package, node.lineno


def _name(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
