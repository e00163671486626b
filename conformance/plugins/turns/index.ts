// A program with resources of packages and of a dynamic provider, which feed one another. $STAGE says how far it got.
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import * as random from "@pulumi/random";
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
    public readonly letters: random.RandomString;
    constructor(name: string) {
        super("turns:index:Box", name);
        this.letters = new random.RandomString("letters", { length: 6, special: false }, { parent: this });
        this.registerOutputs({ letters: this.letters.result });
    }
}

const pet = new random.RandomPet("pet", { length: 2 }, { protect: false });
const password = new random.RandomPassword("password", { length: 16, keepers: { round: stage === 1 ? "1" : "2" } });
new random.RandomInteger("number", { min: 1, max: 9 }, { ignoreChanges: ["max"] });
const key = new tls.PrivateKey("key", { algorithm: "ECDSA", ecdsaCurve: "P256" });
const publicKey = tls.getPublicKeyOutput({ privateKeyPem: key.privateKeyPem });
const said_ = command.local.runOutput({ command: "echo said" });
const first = new command.local.Command(
    stage < 3 ? "first" : "renamed",
    {
        create: `echo one ${Math.min(stage, 2)}`,
        update: `echo two ${stage}`,
        delete: "echo gone",
        environment: { PASSWORD: password.result },
        triggers: [pet.id],
    },
    { aliases: [{ name: "first" }] },
);
const note = new Note("note", first.stdout);
const second_ = new command.local.Command("second", {
    create: note.length.apply((length) => `echo ${length}`),
    triggers: [password.result],
});
const box = new Box("box");
if (stage > 1) {
    new random.RandomPassword("taken", { length: 9 }, { import: "sup3rT4k3", protect: stage === 2 });
}
const found = stage > 2 ? random.RandomPassword.get("looked", "l00ked-up") : undefined;
const petName = pet.id;
const passwordText = password.result;
export const said = said_.stdout;
export const second = second_.stdout;
export const letters = box.letters.result;
export { petName as pet, passwordText as password };
const publicText = publicKey.publicKeyOpenssh;
export { publicText as public };
export const looked = found?.result;
