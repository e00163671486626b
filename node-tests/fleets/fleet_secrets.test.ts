// Secrets of a fleet are nowhere in the server: not in its database, with and without a key for its payloads.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FleetFolder } from "../support/fleet-kit";
import { FleetServer } from "../support/fleet-server";
import { byDay } from "../support/night";

const CANARY = "c4n4ry-0f-th3-fl33t";
/** A value that is no secret. */
const PLAN = "p1an-0f-th3-t3nant";

/** An exception with the secret in its text, as careless providers raise it. */
const RAISING = `const pulumi = require("@pulumi/pulumi");
const careless = {
    create: async ({ token }) => {
        throw new Error("refused with the token " + token);
    },
};
class Told extends pulumi.dynamic.Resource {
    constructor(name, props) {
        super(careless, name, props);
    }
}
exports.tenant = async () => {
    const token = new pulumi.Config().requireSecret("token");
    if (pulumi.getStack() === "broken") {
        new Told("told", { token });
    }
    return { token };
};
`;

test.each(
    byDay([false, true], (encrypted) => !encrypted),
)("no secret and with a key no name enters the server", async (encrypted) => {
    const server = await FleetServer.started();
    const fleet = new FleetFolder(server);
    if (encrypted) {
        fleet.variables.MALOKO_FLEET_KEY = randomBytes(32).toString("base64");
    }
    fleet.variables.TENANT_TOKEN = CANARY;
    const rows = [{ tenant: "kind" }, { tenant: "broken" }];
    const config = { token: { secretFrom: "env TENANT_TOKEN" }, plan: PLAN };
    writeFileSync(join(fleet.folder, "raising.cjs"), RAISING);
    fleet.write([{ project: "tenant", program: "raising.cjs#tenant", stack: "{tenant}", for: rows, config }]);
    fleet.worker();

    const result = fleet.run(["up", "--outputs"], 1);

    expect(result.ends).toMatchObject({
        "tenant/kind": { outputs: { token: "[secret]" } },
        "tenant/broken": { reason: "provider", text: expect.stringContaining("refused with the token") as string },
    });
    expect(JSON.stringify(result)).not.toContain(CANARY);
    // The raw bytes of the database do not show what is compressed.
    const payloads = server.payloads();
    const having = (text: string) => payloads.filter(({ content }) => content.includes(text));
    const hasPlan = having(PLAN).some(({ wasCompressed }) => wasCompressed);
    expect(hasPlan, "a value that is no secret is found in what is compressed").toBe(!encrypted);
    expect(having("refused with the token [secret]").length > 0).toBe(!encrypted);
    expect(having(CANARY)).toEqual([]);
    await server.stop();
    const files = readdirSync(server.folder).map((name) => readFileSync(join(server.folder, name)));
    const database = Buffer.concat(files);
    expect(database.includes("FleetRun")).toBe(true);
    expect(database.includes(CANARY)).toBe(false);
    expect(database.includes("refused with the token")).toBe(!encrypted);
    expect(fleet.workerLogs()).not.toContain(CANARY);
});
