import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import { RandomPassword, RandomPasswordArgs } from "@pulumi/random/randomPassword";
import * as tls from "@pulumi/tls";

const pet = new random.RandomPet("pet", { length: 3, keepers: { a: "b" } }, { protect: true });
const args: RandomPasswordArgs = { length: pet.length.apply(length => length ?? 8), special: undefined };
const password = new RandomPassword("password", args);
const looked: random.RandomPet = random.RandomPet.get("looked", pet.id, { length: 2 });
const key = new tls.PrivateKey("key", { algorithm: "RSA" });
const request = new tls.CertRequest("request", { privateKeyPem: key.privateKeyPem, subject: { commonName: "example.com" } });
const known: Promise<tls.GetPublicKeyResult> = tls.getPublicKey({ privateKeyPem: "pem" });
const later: pulumi.Output<tls.GetPublicKeyResult> = tls.getPublicKeyOutput({ privateKeyPem: key.privateKeyPem }, { parent: key });
const subject: pulumi.Input<tls.types.input.CertRequestSubject> = { commonName: pulumi.secret("x") };
const run = new command.local.Command("run", { create: "true", triggers: [pet.id], environment: { A: password.result } });
const said: pulumi.Output<string> = run.stdout;
const proxy: tls.types.output.config.Proxy | undefined = tls.config.proxy;
const provider = new random.Provider("own");
const told: pulumi.Output<random.Provider.TerraformConfigResult> = provider.terraformConfig();
export const anything: unknown[] = [looked, request, known, later, subject, said, proxy, told];
if (random.RandomPet.isInstance(anything[0])) {
    anything[0].separator.apply(text => text?.length);
}

// @ts-expect-error A password has a length.
new random.RandomPassword("wrong", {});
// @ts-expect-error There is no such argument.
new random.RandomPet("wrong", { legs: 4 });
