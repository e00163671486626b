"""A program with resources of packages and of a dynamic provider, which feed one another; $STAGE: how far it got."""

import os

import pulumi
import pulumi_command as command
import pulumi_random as random
import pulumi_tls as tls
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

stage = int(os.environ["STAGE"])


class NoteProvider(ResourceProvider):
    def diff(self, _id, _olds, _news):
        return DiffResult(changes=_olds["text"] != _news["text"])

    def create(self, props):
        return CreateResult("note-1", {**props, "length": len(props["text"])})

    def update(self, _id, _olds, _news):
        return UpdateResult({**_news, "length": len(_news["text"])})


class Note(Resource):
    length: pulumi.Output[int]

    def __init__(self, name, text, opts=None):
        super().__init__(NoteProvider(), name, {"text": text, "length": None}, opts)


class Box(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("turns:index:Box", name)
        self.letters = random.RandomString("letters", length=6, special=False, opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({"letters": self.letters.result})


pet = random.RandomPet("pet", length=2, opts=pulumi.ResourceOptions(protect=False))
password = random.RandomPassword("password", length=16, keepers={"round": "1" if stage == 1 else "2"})
random.RandomInteger("number", min=1, max=9, opts=pulumi.ResourceOptions(ignore_changes=["max"]))
key = tls.PrivateKey("key", algorithm="ECDSA", ecdsa_curve="P256")
public = tls.get_public_key_output(private_key_pem=key.private_key_pem)
said = command.local.run_output(command="echo said")
renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="first")])
first = command.local.Command(
    "first" if stage < 3 else "renamed",
    create=f"echo one {min(stage, 2)}",
    update=f"echo two {stage}",
    delete="echo gone",
    environment={"PASSWORD": password.result},
    triggers=[pet.id],
    opts=renamed,
)
note = Note("note", first.stdout)
second = command.local.Command(
    "second", create=note.length.apply(lambda length: f"echo {length}"), triggers=[password.result]
)
box = Box("box")
if stage > 1:
    taken = random.RandomPassword(
        "taken", length=9, opts=pulumi.ResourceOptions(import_="sup3rT4k3", protect=stage == 2)
    )
if stage > 2:
    looked = random.RandomPassword.get("looked", "l00ked-up")
    pulumi.export("looked", looked.result)
pulumi.export("pet", pet.id)
pulumi.export("password", password.result)
pulumi.export("said", said.stdout)
pulumi.export("second", second.stdout)
pulumi.export("public", public.public_key_openssh)
pulumi.export("letters", box.letters.result)
