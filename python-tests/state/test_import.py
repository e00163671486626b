"""Adopting what exists: the option `import_`, the command `import`, lists of imports, interrupted creates, look-ups."""

import json
from typing import Any

import pytest
from cli import Project
from night import rounds

PROGRAM = """
import json, pathlib, threading
import pulumi
from pulumi import ResourceOptions
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

WORLD = pathlib.Path("world.json")
LOCK = threading.Lock()


def change(edit):
    with LOCK:
        world = json.loads(WORLD.read_text())
        edit(world)
        WORLD.write_text(json.dumps(world))


def outputs(id_, text):
    return {"text": text, "url": f"https://notes/{id_}"}


class NoteProvider(ResourceProvider):
    def diff(self, id_, olds, news):
        return DiffResult(changes=any(olds.get(key) != value for key, value in news.items()))

    def create(self, props):
        id_ = "made-" + props["text"]
        change(lambda world: world.update({id_: props["text"]}))
        return CreateResult("" if props["text"] == "half" else id_, outputs(id_, props["text"]))

    def read(self, id_, props):
        world = json.loads(WORLD.read_text())
        return ReadResult(id_, outputs(id_, world[id_])) if id_ in world else ReadResult("", {})

    def update(self, id_, olds, news):
        change(lambda world: world.update({id_: news["text"]}))
        return UpdateResult(outputs(id_, news["text"]))

    def delete(self, id_, props):
        change(lambda world: world.pop(id_))


class Note(Resource):
    def __init__(self, name, text, opts=None):
        super().__init__(NoteProvider(), name, {"text": text}, opts)


for note in json.loads(pathlib.Path("wanted.json").read_text()):
    Note(note["name"], note["text"], ResourceOptions(**note["options"]))
"""

TYPE = "pulumi-python:dynamic:Resource"
OPTION = "import_"
PLACE = "__main__:NoteProvider"
REFUSE = "--refuse-import-differences"


def note(name: str, text: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "text": text, "options": options}


class Notes:
    """A project whose resources are notes, which are entries of a file."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.write("__main__.py", PROGRAM)
        self.wants()
        self.has()

    def wants(self, *notes: dict[str, Any]) -> None:
        self.project.write("wanted.json", json.dumps(notes))

    def has(self, **world: str) -> None:
        self.project.write("world.json", json.dumps({key.replace("_", "-"): text for key, text in world.items()}))

    def world(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.project.directory / "world.json").read_text())
        return found

    def resource(self, name: str) -> dict[str, Any]:
        states = json.loads(self.project.state())["checkpoint"]["latest"]["resources"]
        found = [resource for resource in states if resource["urn"].endswith("::" + name)]
        assert len(found) == 1, found
        return dict(found[0])

    def up(self, *arguments: str) -> str:
        return self.project.run("up", "--yes", "--skip-preview", *arguments).stdout


@pytest.fixture
def notes(project: Project) -> Notes:
    return Notes(project)


def test_an_object_is_taken_over_by_the_option_import(notes: Notes) -> None:
    notes.has(n1="hello")
    notes.wants(note("a", "hello", **{OPTION: "n1"}))
    assert "1 to import" in notes.project.run("preview").stdout
    notes.up()
    resource = notes.resource("a")
    assert (resource["id"], resource["importID"], resource["outputs"]["url"]) == ("n1", "n1", "https://notes/n1")
    notes.up("--expect-no-changes")
    notes.wants(note("a", "changed", **{OPTION: "n1"}))
    notes.up()
    assert notes.world() == {"n1": "changed"}
    notes.wants()
    notes.up()
    assert notes.world() == {}


def test_an_import_that_does_not_match_is_shown_property_by_property_and_updated_in_the_same_run(notes: Notes) -> None:
    notes.has(n1="hello")
    notes.wants(note("a", "other", **{OPTION: "n1"}))
    said = notes.project.run("preview", "--diff").stdout
    for shown in ("1 to import", "1 to update", '"hello"', '"other"'):
        assert shown in said, said
    assert notes.world() == {"n1": "hello"}
    notes.up()
    resource = notes.resource("a")
    assert (resource["id"], resource["importID"], resource["inputs"]["text"]) == ("n1", "n1", "other")
    assert notes.world() == {"n1": "other"}
    notes.up("--expect-no-changes")


def test_an_import_that_needs_a_replacement_keeps_the_imported_object_and_refuses_the_replacement(notes: Notes) -> None:
    notes.has(n1="hello")
    notes.wants(note("a", "other", **{OPTION: "n1", "replace_on_changes": ["text"]}))
    words = "previously-imported resources that still specify an ID may not be replaced"
    assert words in notes.project.run("preview").stdout
    assert words in notes.project.failing("up", "--yes", "--skip-preview")
    assert notes.resource("a")["inputs"]["text"] == "hello"
    assert notes.world() == {"n1": "hello"}


def test_an_import_whose_differences_are_refused_is_explained_property_by_property_and_changes_nothing(
    notes: Notes,
) -> None:
    notes.has(n1="hello")
    notes.wants(note("a", "other", **{OPTION: "n1"}))
    for command in (["preview", REFUSE], ["up", "--yes", "--skip-preview", REFUSE]):
        said = notes.project.failing(*command)
        assert '* text: the program has "other", the object has "hello"' in said
        assert "'ignoreChanges'" in said
    assert notes.world() == {"n1": "hello"}
    assert "https://notes/n1" not in notes.project.state()
    options = {OPTION: "n1", "ignore_changes": ["text"]}
    notes.wants(note("a", "other", **options))
    notes.up()
    assert notes.world() == {"n1": "hello"}


def test_import_mismatches_name_the_properties_by_comparing(notes: Notes) -> None:
    # `read` tells the program's own inputs, and `diff` only that something differs.
    read = 'ReadResult(id_, outputs(id_, world[id_]), {**props, "url": f"https://notes/{id_}"})'
    diff = "DiffResult(changes=True)"
    program = PROGRAM.replace("ReadResult(id_, outputs(id_, world[id_]))", read)
    program = program.replace("DiffResult(changes=any(olds.get(key) != value for key, value in news.items()))", diff)
    program = program.replace('{"text": text}', '{"text": text, "url": "https://notes/" + "x" * 150}')
    notes.project.write("__main__.py", program)
    notes.has(n1="hello")
    notes.wants(note("a", "other", **{OPTION: "n1"}))
    whole = "the object 'n1' cannot be imported: it is not as the program says in "
    for command in (["preview", REFUSE], ["up", "--yes", "--skip-preview", REFUSE]):
        said = notes.project.failing(*command)
        # The line is whole, and stands there once.
        assert said.count(f"{whole}url\n") == 1, said
        assert f'* url: the program has "https://notes/{"x" * 20}' in said
    # Inputs that are as the program says: the outputs are compared.
    same = program.replace(', "url": "https://notes/" + "x" * 150', "").replace(
        read, "ReadResult(id_, outputs(id_, world[id_]), props)"
    )
    notes.project.write("__main__.py", same)
    said = notes.project.failing("preview", REFUSE)
    assert said.count(f"{whole}text\n") == 1, said
    assert '* text: the program has "other", the object has "hello"' in said
    notes.wants(note("a", "hello", **{OPTION: "n1"}))
    said = notes.project.failing("preview", REFUSE)
    assert said.count("its provider's 'diff' says that it is not as the program says\n") == 1, said
    assert "look at what 'diff' compares" in said


def test_an_import_of_an_id_that_does_not_exist_says_so(notes: Notes) -> None:
    notes.wants(note("a", "hello", **{OPTION: "n9"}))
    assert "there is no object with the id 'n9' to import" in notes.project.failing("preview")
    assert "there is no object with the id 'n9' to import" in notes.project.failing("up", "--yes", "--skip-preview")


def test_an_import_over_another_object_replaces_it_and_deletes_the_old_one(notes: Notes) -> None:
    notes.wants(note("a", "hello"))
    notes.up()
    notes.has(made_hello="hello", n1="hello")
    notes.wants(note("a", "hello", **{OPTION: "n1"}))
    assert "1 to replace" in notes.project.run("preview").stdout
    notes.up()
    assert notes.world() == {"n1": "hello"}
    assert notes.resource("a")["id"] == "n1"


def test_the_command_import_takes_over_an_object_and_prints_its_code(notes: Notes) -> None:
    notes.has(n1="hello")
    notes.wants(note("first", "one"))
    notes.up()
    done = notes.project.run("import", TYPE, "a", "n1", "--yes")
    assert 'a = Note("a", text="hello", opts=pulumi.ResourceOptions(protect=True))' in done.stdout
    assert "https://notes" not in done.stdout
    resource = notes.resource("a")
    assert (resource["id"], resource["protect"], resource["inputs"]["text"]) == ("n1", True, "hello")
    assert "importID" not in resource
    # The list may be worked through again; another object of that name may not.
    notes.project.run("import", TYPE, "a", "n1", "--yes")
    assert "with the id 'n1'" in notes.project.failing("import", TYPE, "a", "made-one", "--yes")
    notes.wants(note("first", "one"), note("a", "hello", protect=True))
    notes.up("--expect-no-changes")


def test_the_command_import_is_told_the_provider_by_its_place(notes: Notes) -> None:
    notes.has(n1="hello", n2="hi")
    assert "no provider is known for the type" in notes.project.failing("import", TYPE, "a", "n1", "--yes")
    notes.project.run("import", PLACE, "a", "n1", "--yes", "--properties", "text", "--protect=false")
    assert notes.resource("a").get("protect") is None
    notes.project.run(
        "import", TYPE, "b", "n2", "--yes", "--provider", PLACE, "--properties", "text", "--out", "code.txt"
    )
    assert "NoteProvider" in (notes.project.directory / "code.txt").read_text()
    notes.wants(note("a", "hello"), note("b", "hi", protect=True))
    notes.up("--expect-no-changes")


def test_an_object_that_the_stack_has_is_not_imported_a_second_time(notes: Notes) -> None:
    notes.has(n1="hello")
    first = note("a", "hello", **{OPTION: "n1"})
    notes.wants(first)
    notes.up()
    notes.wants(first, note("b", "hello", **{OPTION: "n1"}))
    told = f"the object 'n1' is that of 'urn:pulumi:dev::trial::{TYPE}::a' already"
    assert told in notes.project.failing("preview")
    assert told in notes.project.failing("up", "--yes", "--skip-preview")
    # Nor may one that the program just lost be deleted behind the import.
    notes.wants(note("b", "hello", **{OPTION: "n1"}))
    assert told in notes.project.failing("up", "--yes", "--skip-preview")
    notes.wants(first)
    assert told in notes.project.failing("import", TYPE, "b", "n1", "--yes")
    entries = [{"type": TYPE, "name": name, "id": "n1", "provider": PLACE} for name in "bc"]
    notes.project.write("list.json", json.dumps({"resources": entries}))
    assert told in notes.project.failing("import", "--file", "list.json", "--yes", "--skip-preview")
    assert notes.world() == {"n1": "hello"}
    notes.up("--expect-no-changes")


TYPED = """
import json, pathlib
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider


class NoteProvider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)

    def read(self, id_, props):
        return ReadResult(id_, {"text": "hello"})


class Note(Resource, module="notes", name="Note"):
    def __init__(self, name, opts=None):
        super().__init__(NoteProvider(), name, {"text": "hello"}, opts)


class Memo(Note, module="notes", name="Memo"):
    pass


for line in pathlib.Path("wanted.txt").read_text().splitlines():
    exec(line)
"""
TYPED_LINES = {"Note": "Note('first')", "Memo": "Memo('second')", "imported": "Note('a')"}
TYPED_KIND = "pulumi-python:dynamic/notes:Note"


def test_an_import_by_provider_gets_the_type_of_the_providers_resources(project: Project) -> None:
    def wants(*lines: str) -> None:
        project.write("wanted.txt", "\n".join(TYPED_LINES[line] for line in lines))

    project.write("__main__.py", TYPED)
    wants("Note")
    project.run("up", "--yes", "--skip-preview")
    project.run("import", PLACE, "a", "n1", "--yes", "--protect=false")
    assert f"::{TYPED_KIND}::a" in project.state()
    wants("Note", "imported")
    project.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    wants("Note", "imported", "Memo")
    said = project.failing("import", PLACE, "b", "n2", "--yes")
    assert "has resources of several types" in said
    assert TYPED_KIND in said
    assert TYPED_KIND.replace(":Note", ":Memo") in said


def test_a_preview_lists_what_it_would_create_and_the_list_is_imported(notes: Notes) -> None:
    notes.wants(note("a", "hello"), note("b", "hi"))
    notes.project.run("preview", "--import-file", "list.json")
    listed = json.loads((notes.project.directory / "list.json").read_text())
    assert sorted(entry["name"] for entry in listed["resources"]) == ["a", "b"]
    assert "it has no id yet" in notes.project.failing("import", "--file", "list.json", "--yes")
    for entry in listed["resources"]:
        entry["id"] = "n-" + entry["name"]
    notes.project.write("list.json", json.dumps(listed))
    notes.has(n_a="hello", n_b="hi")
    notes.project.run("import", "--file", "list.json", "--preview-only")
    assert '"n-a"' not in notes.project.state()
    notes.project.run("import", "--file", "list.json", "--yes")
    notes.up("--expect-no-changes")
    assert notes.world() == {"n-a": "hello", "n-b": "hi"}


def test_five_hundred_objects_are_imported_from_one_list(notes: Notes) -> None:
    names = [f"n{number}" for number in range(rounds(100, 500))]
    notes.has(**{name: "text of " + name for name in names})
    resources = [{"type": TYPE, "name": name, "id": name, "provider": PLACE, "properties": ["text"]} for name in names]
    notes.project.write("list.json", json.dumps({"resources": resources}))
    notes.project.run("import", "--file", "list.json", "--yes", "--skip-preview", "--generate-code=false")
    states = json.loads(notes.project.state())["checkpoint"]["latest"]["resources"]
    assert {resource["id"] for resource in states if resource["type"] == TYPE} == set(names)
    notes.wants(*(note(name, "text of " + name, protect=True) for name in names))
    notes.up("--expect-no-changes")


def test_what_is_wrong_with_one_import_keeps_none_of_the_others_back(notes: Notes) -> None:
    notes.has(n1="hello")
    resources = [{"type": TYPE, "name": name, "id": id_, "provider": PLACE} for name, id_ in (("a", "n9"), ("b", "n1"))]
    notes.project.write("list.json", json.dumps({"resources": resources}))
    said = notes.project.failing("import", "--file", "list.json", "--skip-preview")
    assert "there is no object with the id 'n9'" in said
    assert notes.resource("b")["id"] == "n1"


def test_a_list_of_imports_that_cannot_be_read_says_where(notes: Notes) -> None:
    def wrong(text: str) -> str:
        notes.project.write("list.json", text)
        return notes.project.failing("import", "--file", "list.json", "--yes")

    assert "line 1" in wrong('{"resources": [')
    assert "unknown field `resource`" in wrong('{"resource": []}')
    entry = {"type": TYPE, "name": "a", "id": "n1"}
    assert "resource 'a': its parent 'p' is neither" in wrong(json.dumps({"resources": [{**entry, "parent": "p"}]}))
    assert "another entry has the same" in wrong(json.dumps({"resources": [entry, entry]}))
    assert "'Note' is not a type" in wrong(json.dumps({"resources": [{**entry, "type": "Note"}]}))


def test_an_interrupted_create_is_completed_with_the_id_of_its_object(notes: Notes) -> None:
    notes.wants(note("a", "half"))
    notes.project.failing("up", "--yes", "--skip-preview")
    assert notes.world() == {"made-half": "half"}
    warned = notes.project.run("refresh", "--yes", "--skip-preview", "--skip-pending-creates")
    urn = f"urn:pulumi:dev::trial::{TYPE}::a"
    assert f"--import-pending-creates '{urn}' ID" in warned.stdout + warned.stderr
    asked = ["refresh", "--skip-preview", "--import-pending-creates", urn]
    assert "is not followed by an id" in notes.project.failing(*asked)
    assert "there is no object with the id 'n9'" in notes.project.failing(*asked, "n9")
    notes.project.run(*asked, "--import-pending-creates", "made-half")
    assert notes.resource("a")["id"] == "made-half"
    notes.up("--expect-no-changes")


def test_interrupted_creates_are_forgotten_when_asked(notes: Notes) -> None:
    notes.wants(note("a", "half"))
    notes.project.failing("up", "--yes", "--skip-preview")
    assert "pending_operations" in notes.project.state()
    notes.project.run("refresh", "--skip-preview", "--clear-pending-creates")
    notes.wants()
    assert "interrupted" not in notes.up()


def test_a_resource_that_is_looked_up_is_never_deleted_and_becomes_managed_and_back(notes: Notes) -> None:
    notes.has(n1="hello")
    notes.wants(note("a", "hello", id="n1"))
    notes.up()
    assert notes.resource("a")["external"] is True
    notes.wants(note("a", "hello", **{OPTION: "n1"}))
    notes.up()
    assert "external" not in notes.resource("a")
    notes.wants(note("a", "hello", id="n1"))
    notes.up()
    assert notes.resource("a")["external"] is True
    notes.wants()
    notes.up()
    assert notes.world() == {"n1": "hello"}
    assert TYPE not in notes.project.state()


def test_a_look_up_of_an_id_that_does_not_exist_says_so(notes: Notes) -> None:
    notes.wants(note("a", "hello", id="n9"))
    assert "there is no object with the id 'n9'" in notes.project.failing("up", "--yes", "--skip-preview")
