// What programs that were written for Pulumi rely on.
import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { newStack, Thing } from "../support/kit";

test("provider methods have the configuration in a variable", async () => {
    const seen: Record<string, unknown[]> = {};
    let arrived = 0;
    let open: () => void = () => {};
    const both = new Promise<void>((resolve) => {
        open = resolve;
    });
    class Asking {
        async create(inputs: object) {
            const before = process.env.PULUMI_CONFIG;
            if (++arrived === 2) {
                open();
            }
            await both;
            const told = JSON.parse(process.env.PULUMI_CONFIG ?? "{}") as Record<string, string>;
            const place = told["project:place"] ?? "nowhere";
            const same = before === process.env.PULUMI_CONFIG;
            seen[place] = [same, "PULUMI_CONFIG" in process.env, new pulumi.Config().get("place")];
            return { id: place, outs: inputs };
        }
    }
    const run = (place: string) =>
        newStack({ config: { "project:place": place } }).up(() => void new Thing(new Asking(), "a"));
    await Promise.all([run("here"), run("there")]);
    expect(seen).toEqual({ here: [true, true, "here"], there: [true, true, "there"] });
    expect("PULUMI_CONFIG" in process.env).toBe(false);
});
