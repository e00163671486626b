// Tests on a cloud that outlives their process (a directory), whose last create ends as it is told: for kit_unresolved_creates.test.ts.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { test } from "maloko/vitest";
import { type Props, Thing } from "../../support/kit";

const { CLOUD = "", ENDING = "", SEARCHING = "" } = process.env;

function kill(): void {
    process.kill(process.pid, "SIGKILL");
}

class FileProvider {
    async create({ name, key }: Props): Promise<any> {
        const last = name === "third";
        if (last && ENDING === "killed before") {
            kill();
        }
        writeFileSync(join(CLOUD, name), "");
        while (ENDING === "killed together" && readdirSync(CLOUD).length < 3) {
            await setTimeout(10);
        }
        if ((last && ENDING === "killed") || ENDING === "killed together") {
            kill();
        }
        if (last && ENDING === "raises") {
            throw new Error("no answer");
        }
        return last && ENDING === "rubbish" ? { [key]: new WeakSet() } : { id: name, outs: { name, key } };
    }

    async delete(id: string) {
        rmSync(join(CLOUD, id), { force: true });
    }
}

class SearchingProvider extends FileProvider {
    async find(_key: string, props: Props) {
        if (SEARCHING === "fails") {
            throw new Error("nobody knows");
        }
        return existsSync(join(CLOUD, props.name)) ? { id: props.name, props } : undefined;
    }
}

function thing(name: string, dependsOn: Thing[] = []): Thing {
    const provider = SEARCHING === "" ? new FileProvider() : new SearchingProvider();
    return new Thing(provider, name, { name, key: pulumi.secret("hunter22") }, { dependsOn });
}

const settings = { realCloud: true };

test("it", async ({ stack }) => {
    const s = stack(() => {
        const made: Thing[] = [];
        for (const name of ["first", "second", "third"]) {
            made.push(thing(name, ENDING === "killed together" ? [] : [...made]));
        }
    }, settings);
    const up = s.up();
    await (ENDING === "" ? up : up.catch(() => {}));
});

test("other", async ({ stack }) => {
    await stack(() => void thing("other"), settings).up();
    if (ENDING !== "") {
        kill();
    }
});

test("alone", async ({ stack }) => {
    await stack(() => void thing("third"), settings)
        .up()
        .catch(() => {});
});

test("two", async ({ stack }) => {
    const one = stack(() => void thing("one"), settings);
    const two = stack(() => void thing("two"), settings);
    await one.up();
    await two.up();
    if (ENDING === "killed later") {
        await stack(() => void thing("three"), settings).up();
    }
    if (ENDING !== "") {
        kill();
    }
});
