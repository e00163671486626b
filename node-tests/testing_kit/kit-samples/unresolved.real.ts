// Tests on a cloud that outlives their process (a directory), whose last create ends as it is told: for kit_unresolved_creates.test.ts.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
        if (last && ENDING === "killed") {
            kill();
        }
        if (last && ENDING === "raises") {
            throw new Error("no answer");
        }
        return { id: name, outs: { name, key } };
    }

    async delete(id: string) {
        rmSync(join(CLOUD, id), { force: true });
    }
}

class SearchingProvider extends FileProvider {
    async find(_key: string, props: Props) {
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
            made.push(thing(name, [...made]));
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
