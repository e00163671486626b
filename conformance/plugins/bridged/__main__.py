"""A program with Terraform's providers through the bridge, and a dynamic one. $STAGE says how far it got, $SLEEP how
long one create takes."""

import os

import pulumi
import pulumi_random as random
import pulumi_time as time
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
        super().__init__("bridged:index:Box", name)
        below = pulumi.ResourceOptions(parent=self)
        self.letters = random.String("letters", length=6, special=False, opts=below)
        self.register_outputs({"letters": self.letters.result})


pet = random.Pet("pet", length=2)
password = random.Password("password", length=16, keepers={"round": "1" if stage == 1 else "2"})
random.Integer("number", min=1, max=9, opts=pulumi.ResourceOptions(ignore_changes=["max"]))
begin = time.Static("begin", rfc3339="2026-01-02T03:04:05Z")
later = time.Offset("later", base_rfc3339=begin.rfc3339, offset_days=stage)
time.Rotating("turn", rfc3339="2026-01-02T03:04:05Z", rotation_years=50)
wait = time.Sleep("wait", create_duration=os.environ.get("SLEEP", "10ms"), triggers={"pet": pet.id})
after = random.Id("after", byte_length=4, opts=pulumi.ResourceOptions(depends_on=[wait]))
key = tls.PrivateKey("key", algorithm="ECDSA", ecdsa_curve="P256")
public = tls.get_public_key_output(private_key_pem=key.private_key_pem)
renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="first")])
certificate = tls.SelfSignedCert(
    "first" if stage < 3 else "renamed",
    private_key_pem=key.private_key_pem,
    subjects=[{"common_name": "example.com", "organization": f"Round {min(stage, 2)}"}],
    dns_names=["example.com"],
    validity_period_hours=900_000,
    allowed_uses=["server_auth"],
    opts=renamed,
)
note = Note("note", later.rfc3339)
box = Box("box")
if stage > 1:
    there = "aabbccdd-eeff-0011-2233-445566778899"
    taken = random.Uuid("taken", opts=pulumi.ResourceOptions(import_=there, protect=stage == 2))
pulumi.export("pet", pet.id)
pulumi.export("password", password.result)
pulumi.export("after", after.hex)
pulumi.export("public", public.public_key_openssh)
pulumi.export("length", note.length)
pulumi.export("letters", box.letters.result)
