"""Which code of a provider made or changed a resource: its declared version, and a fingerprint of its source.

The fingerprint is of what the source says, not of how it is written down: comments, docstrings, formatting, type hints
of methods, line ends and the place of the file do not count, and every version of Python gives the same. Nor does a
method count that is asked anew whenever it matters (`_ASKED_ANEW`): what it says does not change what others have made.
So the syntax tree is read here in a way of our own, because `ast.dump` and the trees themselves differ in details from
version to version.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from maloko._process.syntax import parsed

_WAY = "py2"
"""The way in which fingerprints are made; those that were made in another way are not compared."""

_MAX_VERSION = 2**53 - 1

_ASKED_ANEW = frozenset({"check", "diff", "read", "delete", "find", "close"})
"""Methods that leave nothing behind in an object which `create` or `update` made, unless these call them."""

_STANDARD_LIBRARY = str(Path(os.__file__).parent)
_PACKAGES = ("site-packages", "dist-packages")

_UNIMPORTANT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Members of a syntax tree that say nothing, or not the same in every version of Python."""

_HINTS = frozenset({("FunctionDef", "returns"), ("AsyncFunctionDef", "returns"), ("arg", "annotation")})
"""Where the types of methods are written, which nothing looks at when they are called."""


def version_of(provider: Any) -> int | None:
    """What the provider declares as its `provider_version`; `None` when it declares nothing."""
    declared = getattr(provider, "provider_version", None)
    if declared is None:
        return None
    if type(declared) is not int or not 0 <= declared <= _MAX_VERSION:
        raise TypeError(
            f"provider_version of {type(provider).__qualname__} is {declared!r}; it must be a whole number from 0 on, "
            "such as 1"
        )
    return declared


class Fingerprints:
    """Fingerprints of classes, each computed once in a run."""

    def __init__(self, module: Callable[[str], ModuleType | None]) -> None:
        """
        :param module: gives the module of a name.
        """
        self._module = module
        self._known: dict[type, str | None] = {}
        self._definitions: dict[str, dict[str, list[_Definition]]] = {}

    def of(self, kind: type) -> str | None:
        """The fingerprint of a class with those of its bases that are the project's; `None` without source."""
        if kind not in self._known:
            try:
                self._known[kind] = self._compute(kind)
            except (OSError, SyntaxError, ValueError, RecursionError):
                # It is for information only: no program fails for the want of it.
                self._known[kind] = None
        return self._known[kind]

    def _compute(self, kind: type) -> str | None:
        counted = [kind, *(base for base in kind.__mro__[1:] if self._is_of_project(base, kind))]
        definitions = [self._definitions_of(one) for one in counted]
        if not all(definitions):
            return None
        every = [definition for of_class in definitions for definition in of_class]
        left_out = _left_out(every)
        own, *bases = [_digest(of_class, left_out) for of_class in definitions]
        # Apart, so that a change names the class whose own code it is.
        named = zip((base.__qualname__ for base in counted[1:]), bases, strict=True)
        return ";".join([f"{_WAY}:{own}", *(f"{name}={code}" for name, code in named)])

    def _is_of_project(self, base: type, kind: type) -> bool:
        """Is a base class part of the project, or of the package that the class itself comes from?"""
        file = getattr(self._module(base.__module__), "__file__", None)
        if file is None:
            return False
        if any(folder in Path(file).parts for folder in _PACKAGES):
            return base.__module__.partition(".")[0] == kind.__module__.partition(".")[0]
        return not file.startswith(_STANDARD_LIBRARY) and not base.__module__.startswith(("maloko.", "pulumi."))

    def _definitions_of(self, kind: type) -> list[_Definition]:
        """The definitions of a class in its file; several where conditions choose among them."""
        module = self._module(kind.__module__)
        file = getattr(module, "__file__", None)
        if module is None or file is None:
            return []
        if file not in self._definitions:
            linecache.checkcache(file)
            source = "".join(linecache.getlines(file, module.__dict__))
            self._definitions[file] = _parsed(file, source)
        return self._definitions[file].get(kind.__qualname__, [])


class _Definition:
    """One definition of a class; what it says is put together once."""

    def __init__(self, definition: ast.ClassDef) -> None:
        self._definition = definition
        self._texts: dict[frozenset[str], bytes] = {}
        self._mentions: dict[str, frozenset[str]] | None = None

    def text(self, left_out: frozenset[str]) -> bytes:
        """What the fingerprint is made of, without the methods of these names."""
        if left_out not in self._texts:
            text = "\n".join(_class_text(self._definition, left_out))
            self._texts[left_out] = text.encode("utf-8", "surrogatepass")
        return self._texts[left_out]

    def mentions(self) -> dict[str, frozenset[str]]:
        """Which methods that are asked anew are mentioned: by each of them, and (under "") by the rest of the class."""
        if self._mentions is None:
            found: dict[str, set[str]] = {}
            for statement in self._definition.body:
                found.setdefault(_asked_anew(statement) or "", set()).update(
                    node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)
                )
            self._mentions = {name: frozenset(names & _ASKED_ANEW) for name, names in found.items()}
        return self._mentions


def _asked_anew(statement: ast.stmt) -> str | None:
    """The name of a method that is asked anew, if the statement defines one."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name in _ASKED_ANEW:
        return statement.name
    return None


def _left_out(definitions: list[_Definition]) -> frozenset[str]:
    """The methods that do not count: those asked anew that nothing which counts calls."""
    used: set[str] = set()
    waiting = {""}
    while waiting:
        name = waiting.pop()
        new = set().union(*(definition.mentions().get(name, frozenset()) for definition in definitions)) - used
        used |= new
        waiting |= new
    return _ASKED_ANEW - used


def _digest(definitions: list[_Definition], left_out: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for definition in definitions:
        digest.update(definition.text(left_out))
    return digest.hexdigest()[:32]


_sources: dict[str, tuple[str, dict[str, list[_Definition]]]] = {}
"""The files that were parsed last, with their text: a process of many runs (tests) reads the same ones again."""
_MAX_SOURCES = 64


def _parsed(file: str, source: str) -> dict[str, list[_Definition]]:
    """The classes that a file defines, by qualified name."""
    known = _sources.get(file)
    if known is not None and known[0] == source:
        return known[1]
    found: dict[str, list[_Definition]] = {}
    for name, definition in _classes(parsed(source).body, ""):
        found.setdefault(name, []).append(_Definition(definition))
    if len(_sources) >= _MAX_SOURCES:
        _sources.clear()
    _sources[file] = (source, found)
    return found


def _classes(statements: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class in a block, with its qualified name."""
    for statement in statements:
        inner = prefix
        if isinstance(statement, ast.ClassDef):
            yield prefix + statement.name, statement
            inner = f"{prefix}{statement.name}."
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = f"{prefix}{statement.name}.<locals>."
        for block in ("body", "orelse", "finalbody"):
            yield from _classes(getattr(statement, block, []), inner)
        for branch in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
            yield from _classes(branch.body, inner)


def _class_text(definition: ast.ClassDef, left_out: frozenset[str]) -> Iterator[str]:
    """What a class says, without its own name (it may be renamed) and its version (which is compared by itself)."""
    for field, value in ast.iter_fields(definition):
        if field == "body":
            counted = [it for it in value if not _declares_version(it) and _asked_anew(it) not in left_out]
            yield from _text(field, counted)
        elif field != "name":
            yield from _text(field, value)


def _declares_version(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "provider_version" for target in targets)


def _text(field: str, value: Any) -> Iterator[str]:
    """A member of a syntax tree as lines of text; nothing for one that is empty or does not count."""
    if field in _UNIMPORTANT or value is None or value == []:
        return
    yield field
    if isinstance(value, list):
        yield "["
        for item in _simplified(value):
            # Holes count: they are how `{**other}` and keyword-only parameters without default are written.
            yield from ["-"] if item is None else _text("", item)
        yield "]"
    elif isinstance(value, ast.AST):
        yield f"({type(value).__name__}"
        for name, member in ast.iter_fields(value):
            if (type(value).__name__, name) not in _HINTS:
                yield from _text(name, _members(value, name, member))
        yield ")"
    else:
        yield _scalar(value)


def _members(node: ast.AST, name: str, value: Any) -> Any:
    """A member of a node, where versions or formatters write the same in several ways in the one way that counts."""
    if isinstance(node, ast.JoinedStr) and name == "values":
        return _joined(value)
    if isinstance(node, ast.FormattedValue) and name == "format_spec" and value is not None:
        return value if _joined(value.values) else None
    if isinstance(node, ast.Delete) and name == "targets":
        return [item for target in value for item in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return value


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string, with neighbouring texts in one and empty ones left out."""
    parts: list[ast.expr] = []
    for part in values:
        last = parts[-1] if parts else None
        text = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
        if text is None:
            parts.append(part)
        elif isinstance(last, ast.Constant) and isinstance(last.value, str):
            parts[-1] = ast.Constant(last.value + text)
        elif text:
            parts.append(part)
    return parts


def _simplified(items: list[Any]) -> list[Any]:
    """A list without statements that do nothing: docstrings, `pass` and `...`."""
    return [
        item
        for item in items
        if not isinstance(item, ast.Pass) and not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
    ]


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        # Not `repr`: what it shows depends on the version's Unicode tables. The length keeps texts apart.
        return f"str {len(value)} {value}"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        # In hexadecimal, for which there is no limit of digits.
        return f"int {value:x}"
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    return f"{type(value).__name__} {value!r}"
