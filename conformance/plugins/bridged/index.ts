// A program with Terraform's providers through the bridge, and a dynamic one. $STAGE says how far it got, $SLEEP how
// long one create takes.
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as time from "@pulumi/time";
import * as tls from "@pulumi/tls";

const stage = Number(process.env.STAGE);

class NoteProvider implements pulumi.dynamic.ResourceProvider {
    async diff(id: string, olds: any, news: any) {
        return { changes: olds.text !== news.text };
    }
    async create(props: any) {
        return { id: "note-1", outs: { ...props, length: props.text.length } };
    }
    async update(id: string, olds: any, news: any) {
        return { outs: { ...news, length: news.text.length } };
    }
}

class Note extends pulumi.dynamic.Resource {
    public readonly length!: pulumi.Output<number>;
    constructor(name: string, text: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions) {
        super(new NoteProvider(), name, { text, length: undefined }, opts);
    }
}

class Box extends pulumi.ComponentResource {
    public readonly letters: random.String;
    constructor(name: string) {
        super("bridged:index:Box", name);
        this.letters = new random.String("letters", { length: 6, special: false }, { parent: this });
        this.registerOutputs({ letters: this.letters.result });
    }
}

const pet = new random.Pet("pet", { length: 2 });
const secret = new random.Password("password", { length: 16, keepers: { round: stage === 1 ? "1" : "2" } });
new random.Integer("number", { min: 1, max: 9 }, { ignoreChanges: ["max"] });
const begin = new time.Static("begin", { rfc3339: "2026-01-02T03:04:05Z" });
const later = new time.Offset("later", { baseRfc3339: begin.rfc3339, offsetDays: stage });
new time.Rotating("turn", { rfc3339: "2026-01-02T03:04:05Z", rotationYears: 50 });
const wait = new time.Sleep("wait", { createDuration: process.env.SLEEP ?? "10ms", triggers: { pet: pet.id } });
const last = new random.Id("after", { byteLength: 4 }, { dependsOn: [wait] });
const key = new tls.PrivateKey("key", { algorithm: "ECDSA", ecdsaCurve: "P256" });
const found = tls.getPublicKeyOutput({ privateKeyPem: key.privateKeyPem });
new tls.SelfSignedCert(
    stage < 3 ? "first" : "renamed",
    {
        privateKeyPem: key.privateKeyPem,
        subjects: [{ commonName: "example.com", organization: `Round ${Math.min(stage, 2)}` }],
        dnsNames: ["example.com"],
        validityPeriodHours: 900_000,
        allowedUses: ["server_auth"],
    },
    { aliases: [{ name: "first" }] },
);
const note = new Note("note", later.rfc3339);
const box = new Box("box");
if (stage > 1) {
    new random.Uuid("taken", {}, { import: "aabbccdd-eeff-0011-2233-445566778899", protect: stage === 2 });
}
export const petName = pet.id;
export const password = secret.result;
export const after = last.hex;
export const publicKey = found.publicKeyOpenssh;
export const length = note.length;
export const letters = box.letters.result;
