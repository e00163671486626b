"""Variables that changed between the making of a resource and its provider's call are told of."""

# All in Python alone: closures take the variable and not its value; Node's `let` gives each turn of a loop its own

import pulumi
from kit import Echo, Thing
from pulumi.dynamic import CreateResult, ResourceProvider
from stacks import Run, Stack

colour = "none"


def warnings(result: Run) -> list[str]:
    return [text for text in result.messages("warning") if "has changed since" in text]


def test_the_variable_of_a_loop_is_told_once_per_class(stack: Stack) -> None:
    def program() -> None:
        class Painter(ResourceProvider):
            def create(self, props):
                return CreateResult("made", {"shade": shade})

        for shade in ("red", "green", "blue"):
            Thing(Painter(), shade)

    result = stack.up(program)
    assert len(warnings(result)) == 1
    assert "the variable 'shade', which" in warnings(result)[0]
    assert "Painter.create uses" in warnings(result)[0]


class Module(ResourceProvider):
    def create(self, props):
        return CreateResult(colour, {})


def test_a_global_that_changed_is_told(stack: Stack) -> None:
    def program() -> None:
        global colour
        for colour in ("red", "green"):
            Thing(Module(), colour)

    assert ["'colour', which Module.create" in text for text in warnings(stack.up(program))] == [True]


def test_an_attribute_that_the_program_changed_is_told(stack: Stack) -> None:
    class Painter(Echo):
        def __init__(self, shade):
            self.shade = shade

    def program() -> None:
        painter = Painter("red")
        Thing(painter, "a")
        painter.shade = "blue"

    assert ["attribute 'shade'" in text for text in warnings(stack.up(program))] == [True]


def test_what_methods_change_themselves_and_what_stays_is_not_told(stack: Stack) -> None:
    made = 0

    class Counting(ResourceProvider):
        def __init__(self, limit):
            self.limit = limit
            self.count = 0
            self.log = []

        def create(self, props):
            nonlocal made
            made += 1
            self.count += 1
            self.log.append(made)
            assert self.count <= self.limit
            return CreateResult(f"{made}", {})

    late = None

    class Late(Echo):
        def create(self, props):
            assert late is not None
            return super().create(props)

    def program() -> None:
        nonlocal late
        provider = Counting(5)
        for n in range(3):
            Thing(provider, f"r{n}", {"n": n})
        Thing(Late(), "late")
        late = pulumi.get_stack()

    assert warnings(stack.up(program)) == []
