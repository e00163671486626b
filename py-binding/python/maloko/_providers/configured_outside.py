"""What a provider's `configure` sets that is not the object's own: module variables, variables of a function around it,
attributes of its class or of other objects. Read from its source; methods and functions of its module that it calls
count as well."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Iterator, MutableMapping
from types import FunctionType
from typing import Any

from maloko._process.syntax import parsed

_SETTERS = ("update", "setdefault", "__setitem__")


def set_outside(provider: Any, values: dict[str, Any]) -> str | None:
    """What it sets, in words: "the variable 'TOKEN'". `None` when nothing is seen.

    :param values: the object's own attributes.
    """
    return _Reader(provider, values).read()


class _Reader:
    def __init__(self, provider: Any, values: dict[str, Any]) -> None:
        self.kind = type(provider)
        self._values = values
        self._todo: list[tuple[FunctionType, bool]] = []
        self._seen: set[Any] = set()

    def read(self) -> str | None:
        self.method_called("configure")
        while self._todo:
            function, is_method = self._todo.pop()
            found = self._read(function, is_method)
            if found is not None:
                return found
        return None

    def method_called(self, name: str) -> None:
        """A method of the object is called."""
        own = self._values.get(name)
        if isinstance(own, FunctionType):
            self._follow(own, False)
        for base in self.kind.__mro__:
            found = vars(base).get(name)
            function = getattr(found, "__func__", found)
            if isinstance(function, FunctionType) and not base.__module__.startswith(("pulumi.", "maloko.")):
                self._follow(function, not isinstance(found, staticmethod))

    def _follow(self, function: FunctionType, is_method: bool) -> None:
        plain = inspect.unwrap(function)
        if isinstance(plain, FunctionType) and plain.__code__ not in self._seen:
            self._seen.add(plain.__code__)
            self._todo.append((plain, is_method))

    def _read(self, function: FunctionType, is_method: bool) -> str | None:
        try:
            tree = parsed(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError, ValueError):
            return _in_code(function)
        definition = next(
            (it for it in ast.walk(tree) if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef))), None
        )
        if definition is None:
            return _in_code(function)
        return _Function(function, definition, is_method, self).read()

    def called(self, function: FunctionType, name: str) -> None:
        """A function of the module is called."""
        found = function.__globals__.get(name)
        if isinstance(found, FunctionType) and found.__module__ == function.__module__:
            self._follow(found, False)

    def is_of_class(self, name: str) -> bool:
        """Is that an attribute of the class, which the object has not of its own?"""
        found = inspect.getattr_static(self.kind, name, None)
        return name not in self._values and found is not None and not hasattr(type(found), "__get__")


class _Function:
    """One function."""

    def __init__(self, function: FunctionType, definition: Any, is_method: bool, reader: _Reader) -> None:
        self._function, self._definition, self._reader = function, definition, reader
        arguments = definition.args
        named = [*arguments.posonlyargs, *arguments.args]
        self._self = named[0].arg if is_method and named else None
        own = [*named, *arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
        nodes = list(ast.walk(definition))
        self._declared = {name for it in nodes if isinstance(it, (ast.Global, ast.Nonlocal)) for name in it.names}
        stored = {it.id for it in nodes if isinstance(it, ast.Name) and not isinstance(it.ctx, ast.Load)}
        imported = {
            (name.asname or name.name).partition(".")[0]
            for it in nodes
            if isinstance(it, (ast.Import, ast.ImportFrom))
            for name in it.names
        }
        inner = {it.arg for it in nodes if isinstance(it, ast.arg)}
        # What is imported is not the function's own, whatever the name is.
        self._locals = ({it.arg for it in own} | stored | inner) - self._declared - imported

    def read(self) -> str | None:
        for node in ast.walk(self._definition):
            if isinstance(node, ast.Call):
                found = self._call(node)
            elif (
                isinstance(node, ast.AugAssign)
                and isinstance(node.value, ast.Constant)
                and _is_number(node.value.value)
            ):
                # A counter.
                continue
            else:
                found = next((it for target in _targets(node) if (it := self._target(target)) is not None), None)
            if found is not None:
                return found
        return None

    def _target(self, target: ast.expr) -> str | None:
        if isinstance(target, (ast.Tuple, ast.List)):
            return next((it for item in target.elts if (it := self._target(item)) is not None), None)
        if isinstance(target, ast.Starred):
            return self._target(target.value)
        if isinstance(target, ast.Name):
            return f"the variable '{target.id}'" if target.id in self._declared else None
        if isinstance(target, ast.Subscript):
            if isinstance(target.value, ast.Name) and not isinstance(target.slice, ast.Constant):
                # By a key that differs from run to run: a store of them.
                return None
            return self._holder(target.value)
        if isinstance(target, ast.Attribute):
            return None if self._is_self(target.value) else self._holder(target.value)
        return None

    def _holder(self, expression: ast.expr) -> str | None:
        """What is changed when something is set in the object of an expression; `None` when it is this object's own."""
        text = ast.unparse(expression)
        if self._is_class(expression):
            return f"an attribute of its class (`{text}`)"
        at = expression
        while isinstance(at, (ast.Attribute, ast.Subscript)):
            if self._is_class(at):
                return f"an attribute of its class (`{text}`)"
            if isinstance(at, ast.Attribute) and self._is_self(at.value):
                return f"something in '{at.attr}' of its class" if self._reader.is_of_class(at.attr) else None
            at = at.value
        if self._is_class(at):
            return f"an attribute of its class (`{text}`)"
        if isinstance(at, ast.Name) and at.id not in self._locals:
            return f"something in `{text}`"
        return None

    def _is_self(self, expression: ast.expr) -> bool:
        return isinstance(expression, ast.Name) and expression.id == self._self

    def _is_class(self, expression: ast.expr) -> bool:
        if isinstance(expression, ast.Attribute):
            return expression.attr == "__class__"
        return (
            isinstance(expression, ast.Call)
            and isinstance(expression.func, ast.Name)
            and expression.func.id == "type"
            and len(expression.args) == 1
        )

    def _call(self, call: ast.Call) -> str | None:
        function = call.func
        if isinstance(function, ast.Name):
            if function.id == "setattr" and call.args:
                return None if self._is_self(call.args[0]) else self._holder(call.args[0])
            self._reader.called(self._function, function.id)
        elif isinstance(function, ast.Attribute):
            if self._is_self(function.value):
                self._reader.method_called(function.attr)
            elif function.attr in _SETTERS and isinstance(self._value(function.value), MutableMapping):
                return self._holder(function.value)
        return None

    def _value(self, expression: ast.expr) -> Any:
        """The object of an expression that names one outside of the function; `None` when that is not known."""
        if isinstance(expression, ast.Name) and expression.id not in self._locals:
            try:
                return inspect.getclosurevars(self._function).nonlocals.get(
                    expression.id, self._function.__globals__.get(expression.id)
                )
            except (TypeError, ValueError):
                return self._function.__globals__.get(expression.id)
        if isinstance(expression, ast.Attribute):
            if self._is_self(expression.value):
                kind = self._reader.kind
                return getattr(kind, expression.attr, None) if self._reader.is_of_class(expression.attr) else None
            holder = self._value(expression.value)
            return None if holder is None else getattr(holder, expression.attr, None)
        return None


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Assign, ast.Delete)):
        yield from node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor)):
        yield node.target
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from (item.optional_vars for item in node.items if item.optional_vars is not None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _in_code(function: FunctionType) -> str | None:
    """What a function sets whose source is not there."""
    code = function.__code__
    for instruction in dis.get_instructions(code):
        name, operation = str(instruction.argval), instruction.opname
        if operation == "STORE_GLOBAL" or (operation == "STORE_DEREF" and name in code.co_freevars):
            return f"the variable '{name}'"
    return None
