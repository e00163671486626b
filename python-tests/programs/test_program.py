"""Programs by path: what they find around them, and how they fail."""

import pytest
from cli import Project

PROVIDER = """
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def __init__(self, label="x"):
        self.label = label

    def create(self, props):
        return CreateResult(f"{self.label}-1", dict(props))

    def delete(self, id_, props):
        import pulumi

        pulumi.log.info(f"deleted {id_}")


class Thing(Resource):
    def __init__(self, name, props=None, label="x"):
        super().__init__(Provider(label), name, props or {})
"""


@pytest.fixture
def things(project: Project) -> Project:
    project.write("things.py", PROVIDER)
    return project


# In Python alone: modules, virtual environments and pickling
def test_a_program_is_a_directory_with_a_main_module(things: Project) -> None:
    things.write("__main__.py", "import things\nthings.Thing('a')\n")
    things.run("up", "--yes")
    assert '"x-1"' in things.state()


def test_main_names_a_directory_or_a_file(things: Project) -> None:
    things.write("Pulumi.yaml", "name: trial\nruntime: python\nmain: src\n")
    things.write("src/__main__.py", "import pulumi, helper\npulumi.export('where', helper.where())\n")
    things.write("src/helper.py", "import os\ndef where(): return os.path.basename(os.getcwd())\n")
    things.run("up", "--yes")
    assert things.run("stack", "output", "where").stdout.strip() == "src"
    things.write("Pulumi.yaml", "name: trial\nruntime: python\nmain: other/program.py\n")
    things.write("other/program.py", "import pulumi, os\npulumi.export('where', os.path.basename(os.getcwd()))\n")
    things.run("up", "--yes")
    assert things.run("stack", "output", "where").stdout.strip() == "other"


# In Python alone: modules, virtual environments and pickling
def test_a_program_finds_name_file_path_and_arguments_as_python_sets_them(project: Project) -> None:
    project.write(
        "__main__.py",
        "import os, pulumi, sys\n"
        "assert __name__ == '__main__'\n"
        "assert sys.modules['__main__'].__dict__ is globals()\n"
        "assert os.path.samefile(__file__, '__main__.py')\n"
        "assert os.path.samefile(sys.path[0], os.getcwd())\n"
        "assert os.path.samefile(sys.argv[0], __file__) and len(sys.argv) == 1\n"
        "def late(_):\n"
        "    import late_module\n"
        "    return late_module.VALUE\n"
        "pulumi.export('late', pulumi.Output.from_input(1).apply(late))\n",
    )
    project.write("late_module.py", "VALUE = 'found'\n")
    project.run("up", "--yes")
    assert project.run("stack", "output", "late").stdout.strip() == "found"


def test_the_two_passes_of_up_each_run_the_program_afresh(project: Project) -> None:
    project.write("state_of_module.py", "runs = []\n")
    project.write(
        "__main__.py",
        "import state_of_module, pulumi\n"
        "state_of_module.runs.append(1)\n"
        "pulumi.export('runs', len(state_of_module.runs))\n",
    )
    project.run("up", "--yes")
    assert project.run("stack", "output", "runs").stdout.strip() == "1"


# In Node: a missing program and a missing SDK are named
def test_a_missing_main_module_is_named(project: Project) -> None:
    (project.directory / "__main__.py").unlink()
    said = project.failing("preview")
    assert "__main__.py" in said


# In Python alone: signals and sys.exit are exceptions, which have a class and can be caught
def test_sys_exit_0_ends_a_program_well(project: Project) -> None:
    project.write("__main__.py", "import sys\nsys.exit(0)\n")
    project.run("up", "--yes")
    project.write("__main__.py", "import sys\nsys.exit(4)\n")
    assert "sys.exit(4)" in project.failing("up", "--yes")


# In Node: a removed resource is deleted by an unexported class of the entry file
def test_a_class_of_the_main_module_is_found_again(things: Project) -> None:
    things.write("__main__.py", PROVIDER + "\nThing('a', label='main')\n")
    things.run("up", "--yes")
    things.write("__main__.py", PROVIDER)
    assert "deleted main-1" in things.run("up", "--yes").stdout


# In Python alone: modules, virtual environments and pickling
def test_a_class_of_a_module_that_the_program_does_not_import_any_more_is_found_again(things: Project) -> None:
    things.write("__main__.py", "import things\nthings.Thing('a', label='late')\n")
    things.run("up", "--yes")
    things.write("__main__.py", "")
    assert "deleted late-1" in things.run("up", "--yes").stdout


# In Python alone: modules, virtual environments and pickling
def test_destroy_without_the_program_finds_classes_of_modules(things: Project) -> None:
    things.write("__main__.py", "import things\nthings.Thing('a', label='kept')\n")
    things.run("up", "--yes")
    things.write("__main__.py", "raise ValueError('must not run')\n")
    assert "deleted kept-1" in things.run("destroy", "--yes", "--no-program").stdout


# In Python alone: threads: a Node program and its providers have one
def test_classes_are_found_while_another_thread_loads_their_module(things: Project) -> None:
    names = [f"thing-{number}" for number in range(8)]
    things.write("__main__.py", f"import things\nfor name in {names}:\n    things.Thing(name, label='many')\n")
    things.run("up", "--yes")
    said = things.run("destroy", "--yes", "--skip-preview", "--no-program", "--parallel", "8").stdout
    assert said.count("deleted many-") == len(names)


def test_resource_and_class_removed_at_once_is_an_error_and_loses_nothing(things: Project) -> None:
    things.write("__main__.py", PROVIDER + "\nThing('a', label='main')\n")
    things.run("up", "--yes")
    things.write("__main__.py", "import things\nthings.Thing('b')\n")
    # The preview knows it already; without one all else is done.
    assert "__main__:Provider was not found" in things.failing("up", "--yes")
    said = things.failing("up", "--yes", "--skip-preview")
    assert "__main__:Provider was not found" in said
    assert "::a" in things.state()
    assert "::b" in things.state()


# In Python alone: modules, virtual environments and pickling
def test_another_virtualenv_is_named_when_it_lacks_maloko(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime:\n  name: python\n  options:\n    virtualenv: venv\n")
    assert "maloko install" in project.failing("preview")


# In Python alone: modules, virtual environments and pickling
def test_native_packages_are_listed_without_a_run(project: Project) -> None:
    project.write("__main__.py", "raise ValueError('must not run')\nimport pulumi_aws as aws\n")
    said = project.failing("check")
    assert "aws" in said
    assert f"problem: {project.directory / '__main__.py'}:2: the SDK" in said
