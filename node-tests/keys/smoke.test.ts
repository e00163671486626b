// What python-tests/keys asks once for both languages (.ci/twins.py): here only whether it can be had from Node.
import { describe, expect, onTestFinished, test } from "vitest";
import { keyServers } from "../support/key_servers";
import { atNight, byDay } from "../support/night";
import { Project, project } from "../support/project";

const nights = atNight(describe);

const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];
const SECRET_OUTPUT = `import * as pulumi from "@pulumi/pulumi";
export const told = new pulumi.Config().requireSecret("word");`;

nights("key_services", () => {
    test("a stack lives under a key service, and says why it cannot be opened", async () => {
        const servers = await keyServers();
        const it = new Project({ "index.ts": SECRET_OUTPUT }, onTestFinished, servers, false);
        it.ok("stack", "init", "dev", "--secrets-provider", "hashivault://one");
        it.ok("config", "set", "--secret", "word", "open sesame");
        it.ok(...UP);
        expect(it.ok("stack", "output", "told", "--show-secrets").trim()).toBe("open sesame");
        expect(it.runWith({ VAULT_TOKEN: "expired" }, ...UP).output).toContain(
            "hashivault://one does not decrypt the stack's key: permission denied",
        );
    });
});

describe("key_changes", () => {
    test("a stack goes to a key service and back, and runs under it", async () => {
        const servers = await keyServers();
        const it = new Project({ "index.ts": SECRET_OUTPUT }, onTestFinished, servers);
        it.ok("config", "set", "--secret", "word", "open sesame");
        const keys = [
            "hashivault://one",
            "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/one",
            "azurekeyvault://throwaway.vault.azure.net/keys/one",
        ];
        for (const key of byDay(keys, (_key, place) => place !== 1)) {
            it.ok("stack", "change-secrets-provider", key);
            expect(it.read("Pulumi.dev.yaml")).toContain(`secretsprovider: ${key}\n`);
            it.up();
            expect(it.ok("stack", "output", "told", "--show-secrets").trim()).toBe("open sesame");
        }
        expect(it.runWith({ AZURE_CLIENT_SECRET: "wrong" }, "config", "get", "word").output).toContain(
            "Entra ID gives no token (AADSTS7000215: Invalid client secret provided.)",
        );
        it.ok("stack", "change-secrets-provider", "key-file");
        expect(it.ok("config", "get", "word").trim()).toBe("open sesame");
    });
});

nights("stack_keys", () => {
    test("stacks have passphrases of their own, and those of a fleet share a key", () => {
        const it = project({
            "index.ts": `import * as pulumi from "@pulumi/pulumi";
            const config = new pulumi.Config(), other = config.get("other");
            export const told = other ? new pulumi.StackReference(other).requireOutput("told") : config.requireSecret("word");`,
        });
        const own = { MALOKO_PASSPHRASE_TEST_PROD: "of prod" };
        const done = (variables: NodeJS.ProcessEnv, ...words: string[]): string => {
            const { status, stdout, output } = it.runWith(variables, ...words);
            expect(status, output).toBe(0);
            return stdout;
        };
        done(own, "stack", "init", "prod");
        done(own, "config", "set", "--secret", "word", "open sesame", "--stack", "prod");
        done(own, "up", "--yes", "--skip-preview", "--stack", "prod");
        done({}, "config", "set", "other", "prod", "--stack", "dev");
        const without = it.runWith({}, ...UP).output;
        expect(without).toContain("Set MALOKO_PASSPHRASE_FILE_TEST_PROD to a file that holds that stack's passphrase");
        done(own, ...UP);
        expect(done({}, "stack", "output", "told", "--show-secrets", "--stack", "dev").trim()).toBe("open sesame");
        done({}, "stack", "init", "one", "--secrets-provider", "fleet");
        done({}, "stack", "init", "two", "--secrets-provider", "fleet");
        expect(it.read("Pulumi.one.yaml")).toBe(it.read("Pulumi.two.yaml"));
    });
});
