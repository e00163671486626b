"""The plugin of the package vault: it makes passwords and keeps each in a file of a folder.

Its protocol is that of Pulumi's plugins, which the server of the Python SDK speaks. It stands for a real store of
passwords: the files are in plain text, readable by their owner alone.
"""

from __future__ import annotations

import json
import os
import secrets
import string
import sys
from pathlib import Path
from typing import TypedDict

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.provider import (
    CheckFailure,
    CheckRequest,
    CheckResponse,
    ConfigureRequest,
    ConfigureResponse,
    CreateRequest,
    CreateResponse,
    DeleteRequest,
    DiffRequest,
    DiffResponse,
    GetSchemaRequest,
    GetSchemaResponse,
    PropertyDiff,
    PropertyDiffKind,
    Provider,
    ReadRequest,
    ReadResponse,
)
from pulumi.provider.experimental.server import main
from pulumi.runtime.rpc import UNKNOWN

VERSION = "1.0.0"
PASSWORD = "vault:index:Password"
LETTERS = string.ascii_letters + string.digits
SPECIAL = "!#%+-:=?@_"
DEFAULTS = {"length": PropertyValue(24.0), "special": PropertyValue(True)}
MIN_LENGTH, MAX_LENGTH = 8, 256


class Password(TypedDict):
    """What a file of the vault holds."""

    length: float
    special: bool
    result: str


class Vault(Provider):
    """Each password is a file, named by the id of its resource."""

    folder: Path

    async def get_schema(self, request: GetSchemaRequest) -> GetSchemaResponse:
        """What an SDK of this package would be generated from."""
        inputs = {"length": {"type": "integer"}, "special": {"type": "boolean"}}
        password = {
            "inputProperties": inputs,
            "properties": {**inputs, "result": {"type": "string", "secret": True}},
            "required": ["length", "special", "result"],
        }
        schema = {
            "name": "vault",
            "version": VERSION,
            "config": {"variables": {"folder": {"type": "string"}}, "required": ["folder"]},
            "resources": {PASSWORD: password},
        }
        return GetSchemaResponse(json.dumps(schema))

    async def check_config(self, request: CheckRequest) -> CheckResponse:
        if "folder" in request.new_inputs:
            return CheckResponse(request.new_inputs)
        missing = "is missing: maloko config set vault:folder FOLDER"
        return CheckResponse(request.new_inputs, [CheckFailure("folder", missing)])

    async def configure(self, request: ConfigureRequest) -> ConfigureResponse:
        self.folder = Path(str(request.args["folder"].value))
        # A preview asks for no create: what the password will be is unknown until it is made.
        return ConfigureResponse(accept_secrets=True, supports_preview=False)

    async def check(self, request: CheckRequest) -> CheckResponse:
        # Before the type are those of the components that it is in.
        type_ = request.type.split("$")[-1]
        if type_ != PASSWORD:
            return CheckResponse(failures=[CheckFailure("", f"the package vault has no resource {type_}")])
        inputs = {**DEFAULTS, **request.new_inputs}
        failures = []
        length, special = inputs["length"].value, inputs["special"].value
        is_length = isinstance(length, float) and length.is_integer() and MIN_LENGTH <= length <= MAX_LENGTH
        # In a preview, an input that another resource has yet to answer is this text.
        if not is_length and length != UNKNOWN:
            failures.append(CheckFailure("length", f"must be a whole number from {MIN_LENGTH} to {MAX_LENGTH}"))
        if not isinstance(special, bool) and special != UNKNOWN:
            failures.append(CheckFailure("special", "must be true or false"))
        return CheckResponse(inputs, failures)

    async def diff(self, request: DiffRequest) -> DiffResponse:
        """A password of another kind is another password: each change replaces it."""
        old, new = request.old_state, request.new_inputs
        changed = [key for key in DEFAULTS if old[key].value != new[key].value and key not in request.ignore_changes]
        replaced = PropertyDiff(PropertyDiffKind.UPDATE_REPLACE, input_diff=True)
        return DiffResponse(
            changes=bool(changed), replaces=changed, diffs=changed, detailed_diff=dict.fromkeys(changed, replaced)
        )

    async def create(self, request: CreateRequest) -> CreateResponse:
        length, special = request.properties["length"].value, request.properties["special"].value
        assert isinstance(length, float)
        letters = LETTERS + SPECIAL if special else LETTERS
        result = "".join(secrets.choice(letters) for _ in range(int(length)))
        password = Password(length=length, special=bool(special), result=result)
        id_ = f"{request.name}-{secrets.token_hex(4)}"
        self.write(id_, password)
        return CreateResponse(id_, outputs_of(password))

    async def read(self, request: ReadRequest) -> ReadResponse:
        """By the id alone, which is all that a `get` or an import has; an empty id says that the password is gone."""
        try:
            password: Password = json.loads(self.file(request.resource_id).read_text())
        except FileNotFoundError:
            return ReadResponse("")
        outputs = outputs_of(password)
        return ReadResponse(request.resource_id, outputs, {key: outputs[key] for key in DEFAULTS})

    async def delete(self, request: DeleteRequest) -> None:
        self.file(request.resource_id).unlink(missing_ok=True)

    def file(self, id_: str) -> Path:
        if "/" in id_:
            raise ValueError(f"'{id_}' is no id of a password")
        return self.folder / f"{id_}.json"

    def write(self, id_: str, password: Password) -> None:
        """A password that was answered is there, whatever ends this process next."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.file(id_), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(password, file)
            file.flush()
            os.fsync(file.fileno())


def outputs_of(password: Password) -> dict[str, PropertyValue]:
    return {
        "length": PropertyValue(password["length"]),
        "special": PropertyValue(password["special"]),
        "result": PropertyValue(password["result"], is_secret=True),
    }


if __name__ == "__main__":
    main(sys.argv[1:], VERSION, Vault())
