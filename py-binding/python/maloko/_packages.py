"""Finds native packages that a program uses, without running it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist"})


def native_packages(entry: Path) -> list[tuple[str, str]]:
    """The packages whose SDKs (`pulumi_aws`) the program imports, each with the first place: `("aws", "main.py:3")`."""
    directory = entry if entry.is_dir() else entry.parent
    found: dict[str, str] = {}
    for file in sorted(_python_files(directory)):
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            # The run itself says what is wrong with it.
            continue
        for name, line in _imports(tree):
            package = name.split(".")[0]
            if package.startswith("pulumi_"):
                found.setdefault(package[len("pulumi_") :].replace("_", "-"), f"{file.relative_to(directory)}:{line}")
    return sorted(found.items())


def _python_files(directory: Path) -> Iterator[Path]:
    for place, directories, files in os.walk(directory):
        directories[:] = [
            name
            for name in directories
            if name not in _SKIPPED and not name.startswith(".") and not Path(place, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(place, file) for file in files if file.endswith(".py"))


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno
