// A provider that makes another object when it is asked again: for kit_crash.test.ts, which runs this file.
import { crashEverywhere, expect } from "maloko/vitest";
import { Thing } from "../../support/kit";
import { BucketProvider, Cloud } from "../cloud";

crashEverywhere(
    ["raise_after"],
    async ({ stack, world }) => {
        await stack(() => void new Thing(new BucketProvider(world), "b", { name: "one" }), { settle: false }).up();
        expect(world.things.size).toBe(1);
    },
    { title: "one object", world: Cloud },
);
