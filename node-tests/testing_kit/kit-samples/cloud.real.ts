// A test on a cloud that outlives its process (a directory), which can be told to be killed: for kit_cloud.test.ts.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "maloko/vitest";
import { type Props, Thing } from "../../support/kit";

const { CLOUD = "", KILLED = "" } = process.env;

class FileProvider {
    async create({ name, token }: Props) {
        writeFileSync(join(CLOUD, name), "");
        return { id: name, outs: { name, token } };
    }

    async delete(id: string) {
        rmSync(join(CLOUD, id));
    }
}

test("files are made", async ({ stack }) => {
    const s = stack(
        () => {
            const first = new Thing(new FileProvider(), "first", { name: "first", token: pulumi.secret("hunter2") });
            new Thing(new FileProvider(), "second", { name: "second" }, { dependsOn: first, protect: true });
        },
        { realCloud: true },
    );
    await s.up();
    expect(readdirSync(CLOUD)).toEqual(["first", "second"]);
    if (KILLED === "afterwards") {
        process.kill(process.pid, "SIGKILL");
    }
});
