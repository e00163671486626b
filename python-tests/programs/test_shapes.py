"""Programs that are long or deep: no recursion limit is met."""

import pytest
from cli import Project, begin
from night import rounds

MANY, DEPTH = rounds(150, 1500), rounds(100, 500)

ITEM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult(str(props["n"]), dict(props))


class Item(Resource):
    n: pulumi.Output[int]

    def __init__(self, name, props, opts=None):
        super().__init__(Provider(), name, props, opts)

"""


@pytest.fixture
def items(project: Project) -> Project:
    project.write("items.py", ITEM)
    return project


def test_a_chain_of_many_resources(items: Project) -> None:
    items.write(
        "__main__.py",
        "import pulumi\n"
        "from items import Item\n"
        "last = Item('item-0', {'n': 0})\n"
        f"for n in range(1, {MANY}):\n"
        "    last = Item(f'item-{n}', {'n': n, 'after': last.n})\n"
        "pulumi.export('last', last.n)\n",
    )
    items.run("up", "--yes", "--skip-preview")
    assert items.run("stack", "output", "last").stdout.strip() == str(MANY - 1)
    assert f"{MANY + 1:,} unchanged" in items.run("up", "--yes", "--skip-preview").stdout
    items.run("destroy", "--yes", "--skip-preview")


def test_components_nested_deeply(items: Project) -> None:
    items.write(
        "__main__.py",
        "import pulumi\n"
        "from items import Item\n"
        "parent = None\n"
        f"for depth in range({DEPTH}):\n"
        "    opts = pulumi.ResourceOptions(parent=parent)\n"
        "    parent = pulumi.ComponentResource('deep:index:Level', f'level-{depth}', {}, opts)\n"
        "Item('item', {'n': 1}, pulumi.ResourceOptions(parent=parent))\n",
    )
    items.run("up", "--yes", "--skip-preview")
    assert f"{DEPTH + 2} unchanged" in items.run("up", "--yes", "--skip-preview").stdout
    items.run("destroy", "--yes", "--skip-preview")


def test_a_circle_of_dependencies_is_an_error(items: Project) -> None:
    items.write(
        "__main__.py",
        "import pulumi\n"
        "from items import Item\n"
        "waiting = []\n"
        "first = Item('first', {'n': 1}, pulumi.ResourceOptions(depends_on=pulumi.Output.from_input(waiting)))\n"
        "second = Item('second', {'n': 2}, pulumi.ResourceOptions(depends_on=[first]))\n"
        "waiting.append(second)\n",
    )
    result = items.run("up", "--yes", "--skip-preview", code=None)
    assert result.returncode != 0
    assert "circular dependency" in result.stdout + result.stderr


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_children_that_depend_on_their_component(items: Project) -> None:
    items.write(
        "__main__.py",
        "import pulumi\n"
        "from items import Item\n"
        "box = pulumi.ComponentResource('demo:index:Box', 'box')\n"
        "options = pulumi.ResourceOptions(parent=box, depends_on=[box])\n"
        "Item('first', {'n': 1}, options)\n"
        "Item('second', {'n': 2}, options)\n",
    )
    # The SDK for Python sees that itself.
    assert "circular dependency" in items.failing("up", "--yes", "--skip-preview")


def told_of_waiting(items: Project, program: str) -> str:
    """What a preview of a program says that waits, until it has named the resources."""
    items.write("sitecustomize.py", "import maloko._run.quiet\nmaloko._run.quiet.WARNING_SECONDS = 0.2\n")
    items.environment["PYTHONPATH"] = str(items.directory)
    items.write("__main__.py", program)
    with begin(items, "preview") as preview:
        said = ""
        for line in preview.stdout or ():
            said += line
            if "never came" in line:
                break
        preview.kill()
    assert "the program has waited for 0.2 s, and nothing goes on that maloko can see" in said
    return said


def test_a_program_that_waits_for_what_never_comes_is_told_of_it(items: Project) -> None:
    program = (
        "import asyncio, pulumi\n"
        "from items import Item\n"
        "Item('late', {'n': pulumi.Output.from_input(asyncio.get_event_loop().create_future())})\n"
    )
    assert "never came: 'late' (pulumi-python:dynamic:Resource)" in told_of_waiting(items, program)


def test_an_input_of_a_component_that_its_own_child_resolves_is_told(items: Project) -> None:
    program = (
        "import asyncio, pulumi\n"
        "from items import Item\n"
        "class Box(pulumi.ComponentResource):\n"
        "    def __init__(self, name, n):\n"
        "        super().__init__('demo:index:Box', name, {'n': n})\n"
        "        self.child = Item('child', {'n': 1}, pulumi.ResourceOptions(parent=self))\n"
        "n = asyncio.get_event_loop().create_future()\n"
        "Box('box', pulumi.Output.from_input(n)).child.id.apply(n.set_result)\n"
    )
    said = told_of_waiting(items, program)
    assert "never came: 'box' (demo:index:Box), 'child' (pulumi-python:dynamic:Resource)" in said
