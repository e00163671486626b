"""What programs make of secrets before they show them: colours, escapes, encodings. Nothing of it is shown or kept."""

import base64
import json
import re

from cli import Project

# ruff: noqa: E501  (lines of the programs under test)

WORD = "C4nary-of-Gr33n"
TEXT = f'p/<{WORD}>&"it\'s" ü+\\' + "".join(f"{number * 7919}~{number}" for number in range(1, 12))

PROGRAM = """
import base64, html, json, os, re, shlex, urllib.parse
import pulumi
from maloko import PartialFailure
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

SECRET = json.loads(os.environ["SECRET"])


def interleaved(text):
    middle = len(text) // 2
    for between in ("\\x1b[1;31m", "\\x1b[0m\\x1b[K", "\\x1b]8;;https://example.com\\x07", "\\0", "\\x7f", "\\u200b", "\\u2060", "\\xad"):
        yield text[:middle] + between + text[middle:]
        yield between.join(text)
        yield json.dumps(text[:middle] + between + text[middle:])


def escaped(text):
    quoted = json.dumps(text, ensure_ascii=False)
    for letter in "<>&":
        quoted = quoted.replace(letter, "\\\\u%04x" % ord(letter))
    yield quoted
    yield json.dumps(text).replace("/", "\\\\/")
    yield json.dumps(json.dumps(json.dumps({"text": text})))
    yield "".join(f"&#{ord(letter)};" if letter in "<>&'\\"" else letter for letter in text)
    yield html.escape(text)
    yield urllib.parse.quote(text, safe=";,/?:@&=+$-_.!~*'()#")
    yield re.sub("%..", lambda code: code[0].lower(), urllib.parse.quote(text, safe=""))
    yield urllib.parse.quote_plus(text)
    yield repr(text.encode())
    yield ascii(text)
    yield shlex.quote(text)
    yield text.encode().hex()
    yield text.encode().hex().upper()
    yield base64.encodebytes(text.encode()).decode()
    encoded = base64.b64encode(text.encode()).decode()
    yield "\\n".join(encoded[at : at + 64] for at in range(0, len(encoded), 64))


def numbers(number):
    yield from (str(number), f"{number:,}", json.dumps({"a": number}), str(float(number)), f"{number:e}", f"{float(number)!r}")


def forms():
    if os.environ["FORMS"] == "numbers":
        return [form for number in (SECRET["deep"][0]["card"], SECRET["pin"], SECRET["port"]) for form in numbers(number)]
    return list({"interleaved": interleaved, "escaped": escaped}[os.environ["FORMS"]](SECRET))


class Leaky(ResourceProvider):
    def create(self, props):
        for form in forms():
            data = form.encode()
            for part in (data[:5], data[5:9], data[9:]):
                os.write(1, part)
            os.write(1, b"\\n")
            pulumi.log.warn("in the log: " + form)
        raise PartialFailure("made", {"plain": "visible"}, ["refused: " + form for form in forms()])

    def update(self, id_, olds, news):
        return self.create(news)


class Thing(Resource):
    def __init__(self, name, **props):
        super().__init__(Leaky(), name, props)


Thing("one", secret=pulumi.Output.secret(SECRET), plain="visible")
"""

DYNAMIC = """
import os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult


class P(ResourceProvider):
    def create(self, props):
        return CreateResult("1", props)

    def update(self, id_, olds, news):
        return UpdateResult(news)


class R(Resource):
    def __init__(self, name, opts=None, **props):
        super().__init__(P(), name, props, opts)


"""

MEMBERS = (
    DYNAMIC
    + """
pw = "OPEN-PW" if os.environ["STEP"] == "plain" else pulumi.Output.secret("OPEN-PW")
R("r", db={"user": "u", "password": pw}, list=["plain", pw], top=pw)
"""
)

IGNORED = (
    DYNAMIC
    + """
step = os.environ["STEP"]
db = {"user": f"user-{step}", "password": f"{'OLD' if step == '1' else 'NEW'}-PW"}
items = [{"key": f"{'OLD' if step == '1' else 'NEW'}-PW"}]
hidden = pulumi.Output.secret if step == "1" else lambda value: value
opts = pulumi.ResourceOptions(ignore_changes=["db.password", "items[*].key"])
R("r", opts, db=hidden(db), items=hidden(items))
"""
)

UNSEEN = re.compile(
    r"(?:\x1b|\\+u001b)(?:\[[0-9;]*[A-Za-z]|\]8;;https://example\.com(?:\x07|\\+u0007))"
    r"|[\x00-\x08\x0b-\x1f\x7f\xad\u200b\u2060]|\\+u(?:0000|007f|00ad|200b|2060)"
)


def left_of(project: Project, forms: str, secret: object) -> dict[str, str]:
    """What a run that fails shows and leaves, without what nobody sees."""
    project.write("__main__.py", PROGRAM)
    project.environment |= {"SECRET": json.dumps(secret), "FORMS": forms}
    flags = [
        "--stack",
        "dev",
        "--skip-preview",
        "--page",
        "up.html",
        "--event-log",
        "events.log",
        "--summary",
        "markdown",
    ]
    left = {"output": project.failing("up", "--yes", *flags)}
    left["events"] = project.failing("up", "--yes", "--skip-preview", "--json", "--stack", "dev")
    left["history"] = project.run("stack", "history", "show", "1", "--stack", "dev").stdout
    left["state"] = project.run("stack", "export", "--stack", "dev").stdout
    kept = [file for file in project.directory.rglob("*") if file.is_file() and file.name != "__main__.py"]
    left |= {str(file.relative_to(project.directory)): file.read_text(errors="replace") for file in kept}
    assert "refused: " in left["state"], "the reasons are kept"
    assert "in the log: " in left["up.html"]
    assert "in the log: " in left["events.log"]
    return {place: UNSEEN.sub("", text) for place, text in left.items()}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_control_characters_inside_of_a_secret_hide_it_from_nobody_who_searches(project: Project) -> None:
    for place, text in left_of(project, "interleaved", f"t{WORD}").items():
        assert WORD not in text, f"{place}: {text[text.find(WORD) - 200 :][:400]}"


def test_a_secret_is_hidden_in_the_forms_that_writers_give_it(project: Project) -> None:
    encoded = base64.b64encode(TEXT.encode()).decode()
    lines = [encoded[at : at + width] for width in (76, 64) for at in range(0, len(encoded), width)]
    digits = WORD.encode().hex()
    for place, text in left_of(project, "escaped", TEXT).items():
        for shown in (WORD, *(line for line in lines if len(line) > 8), digits, digits.upper()):
            assert shown not in text, f"{place}: {text[text.find(shown) - 200 :][:400]}"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_secret_numbers_are_hidden_from_six_digits_on(project: Project) -> None:
    secret = {"deep": [{"card": 8675309123}], "pin": 246810, "port": 8080}
    left = left_of(project, "numbers", secret)
    for place, text in left.items():
        for shown in ("8675309123", "8,675,309,123", "8.675309123", "246810", "246,810", "2.46810"):
            assert shown not in text, f"{place}: {text[text.find(shown) - 200 :][:400]}"
    assert "in the log: 8080" in left["output"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_member_that_becomes_secret_is_marked_where_it_stands(project: Project) -> None:
    project.write("__main__.py", MEMBERS)
    for step in ("plain", "secret"):
        project.run("up", "--yes", "--skip-preview", "--stack", "dev", STEP=step)
        if step == "plain":
            assert project.state().count("OPEN-PW") > 1
    state = project.state()
    assert "OPEN-PW" not in state
    outputs = next(
        resource["outputs"]
        for resource in json.loads(state)["checkpoint"]["latest"]["resources"]
        if "outputs" in resource and "db" in resource["outputs"]
    )
    assert outputs["db"]["user"] == "u"
    assert outputs["list"][0] == "plain"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_ignore_changes_copies_out_of_a_secret_is_secret(project: Project) -> None:
    project.write("__main__.py", IGNORED)
    for step in ("1", "2"):
        project.run("up", "--yes", "--skip-preview", "--stack", "dev", STEP=step)
    state = project.state()
    assert "OLD-PW" not in state
    shown = json.loads(project.run("stack", "export", "--stack", "dev", "--show-secrets").stdout)
    inputs = next(
        resource["inputs"] for resource in shown["deployment"]["resources"] if "db" in resource.get("inputs", {})
    )
    assert inputs["db"]["user"] == "user-2"
    assert "OLD-PW" in json.dumps(inputs["db"]["password"])
    assert "OLD-PW" in json.dumps(inputs["items"])
