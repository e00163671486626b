"""Debuggers and questions on a terminal."""

import textwrap

import dap
from cli import Project
from terminal import Terminal

UP = ("up", "--yes", "--skip-preview", "--parallel", "1")
KEPT = """
import os, sys, time
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Asking(ResourceProvider):
    def create(self, props):
        {body}

class Thing(Resource):
    def __init__(self, name):
        super().__init__(Asking(), name, {{"color": "teal", "answer": None}})

Thing("asked")
"""
ASKING_PROGRAM = 'import pulumi\npulumi.export("name", input("What is your name? "))\n'


def asking(project: Project, body: str) -> None:
    """A program with a resource whose `create` has this body."""
    project.write("__main__.py", KEPT.format(body=textwrap.indent(textwrap.dedent(body), " " * 8).strip()))


def answer(project: Project, *answers: tuple[str, str]) -> None:
    """Deploys on a terminal; each answer is typed once its question is seen."""
    with Terminal(project, *UP) as terminal:
        for question, typed in answers:
            terminal.says(question)
            terminal.types(typed)
        terminal.ends()


GOES_ON = r"asked +creating \("


def test_a_breakpoint_on_a_terminal_has_the_terminal(project: Project) -> None:
    asking(
        project,
        """
        shade = props["color"]
        breakpoint()
        while not os.path.exists("gate"):
            time.sleep(0.01)
        return CreateResult("made", {**props, "answer": shade})
        """,
    )
    with Terminal(project, *UP) as terminal:
        assert "-> while not os.path.exists" in terminal.says("(Pdb) ")
        terminal.types("p props\n")
        assert "{'color': 'teal'" in terminal.says("(Pdb) ")
        terminal.types("shade = 'mauve'\n")
        terminal.says("(Pdb) ")
        terminal.types("list\n")
        assert "breakpoint()" in terminal.says("(Pdb) ")
        session = terminal.raw[terminal.raw.index("(Pdb) ") :]
        assert "\x1b[?2026h" not in session, "no live view is drawn into the session"
        terminal.types("c\n")
        terminal.shows(GOES_ON)
        project.write("gate", "")
        assert "asked      created" in terminal.ends()
    assert "mauve" in project.state()


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_what_is_stepped_over_comes_back_to_the_debugger(project: Project) -> None:
    asking(
        project,
        """
        breakpoint()
        one = 1
        two = 2
        return CreateResult("made", {**props, "answer": one + two})
        """,
    )
    with Terminal(project, *UP) as terminal:
        terminal.says("(Pdb) ")
        for line in ("-> two = 2", "-> return CreateResult"):
            terminal.types("n\n")
            assert line in terminal.says("(Pdb) ")
        terminal.types("p one + two\n")
        assert "3\n" in terminal.says("(Pdb) ")
        terminal.types("n\n")
        assert "--Return--" in terminal.says("(Pdb) ")
        terminal.types("c\n")
        terminal.ends()


def test_a_question_of_a_provider_is_seen_and_answered(project: Project) -> None:
    asking(
        project,
        """
        print("Which color, ", end="")
        name = input("and for whom? ")
        sys.stdout.write("Why? ")
        sys.stdout.flush()
        why = sys.stdin.readline().strip()
        return CreateResult("made", {**props, "answer": f"{name}, {why}"})
        """,
    )
    answer(project, ("Which color, and for whom? ", "Ada\n"), ("Why? ", "because\n"))
    assert "Ada, because" in project.state()


def test_a_question_of_the_program_is_seen_and_answered(project: Project) -> None:
    project.write("__main__.py", ASKING_PROGRAM)
    answer(project, ("What is your name? ", "Ada\n"))
    assert "Ada" in project.run("stack", "output", "name").stdout


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_a_debugger_gets_ctrl_c(project: Project) -> None:
    asking(
        project,
        """
        breakpoint()
        return CreateResult("made", {**props, "answer": "went on"})
        """,
    )
    with Terminal(project, *UP) as terminal:
        terminal.says("(Pdb) ")
        terminal.types("\x03")
        assert "Ctrl-C does not end what waits here" in terminal.says("(Pdb) ")
        # The terminal shows what is typed before the debugger takes it.
        terminal.types('exec(\'print("at", "work")\\nwhile True: pass\')\n')
        terminal.says("at work\n")
        terminal.types("\x03")
        terminal.says("(Pdb) ")
        terminal.types("c\n")
        terminal.ends()
    assert "went on" in project.state()


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_a_debugger_of_the_program_gets_ctrl_c(project: Project) -> None:
    project.write("__main__.py", 'import pulumi\nbreakpoint()\npulumi.export("name", "went on")\n')
    with Terminal(project, *UP) as terminal:
        terminal.says("(Pdb) ")
        terminal.types("\x03")
        assert "--KeyboardInterrupt--" in terminal.says("(Pdb) ")
        terminal.types("c\n")
        terminal.ends()


def test_ctrl_c_at_a_question_cancels_the_run_and_says_so(project: Project) -> None:
    project.write("__main__.py", ASKING_PROGRAM)
    with Terminal(project, *UP) as terminal:
        terminal.says("What is your name? ")
        terminal.types("\x03")
        terminal.says("cancelling: nothing new begins")
        terminal.ends(8)


def test_off_a_terminal_a_question_finds_no_input(project: Project) -> None:
    project.write("__main__.py", 'input("What is your name? ")\n')
    assert "EOFError" in project.failing(*UP)


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_debugpy_stops_in_a_provider_beside_the_display(project: Project) -> None:
    asking(project, 'return CreateResult("made", props)')
    program = project.directory / "__main__.py"
    text = program.read_text()
    program.write_text(
        'import debugpy\nprint("attach now to", debugpy.listen(0)[1])\ndebugpy.wait_for_client()\n' + text
    )
    line = program.read_text().splitlines().index('        return CreateResult("made", props)') + 1
    with Terminal(project, *UP) as terminal:
        client = dap.Client(int(terminal.shows(r"attach now to (\d+)\s")[1]))
        try:
            client.attach(program, [line])
            assert client.stops() == ["create"]
        finally:
            client.close()
        assert "asked      created" in terminal.ends()
