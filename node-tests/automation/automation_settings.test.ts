// What settings say, whoever reads them: a text stays a text, and a number keeps its digits.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { newStack, placed } from "../support/automation-kit";

const TEXTS = [
    ...["12e5", "1234e56", "0x1f", "+0x1f", "0o17", "0b11", "1_000", "0777", "+5", "-12", "1.", ".5", "5.5e3", "1:20"],
    ...["yes", "No", "on", "OFF", "y", "n", "true", "False", "null", "~", "", ".inf", "-.INF", ".nan", "2024-01-01"],
    ...["a: b", "# x", " x", "- a", "=", "<<", "!x", "&a", "*a", "1\n2", "18446744073709551616"],
];

const empty = async () => {};

test("texts of stack settings stay texts", async () => {
    const config = Object.fromEntries(TEXTS.map((text, number) => [`project:k${number}`, text]));
    const stack = await newStack(empty);
    const settings = await stack.workspace.stackSettings("dev");
    await stack.workspace.saveStackSettings("dev", { ...settings, config });
    const read = Object.entries(await stack.getAllConfig()).map(([key, { value }]) => [key, value]);
    expect(Object.fromEntries(read)).toEqual(config);
    expect((await stack.workspace.stackSettings("dev")).config).toEqual(config);
    // So do those of a tool that reads YAML 1.1.
    const written = readFileSync(join(stack.workspace.workDir, "Pulumi.dev.yaml"), "utf8");
    expect(parse(written, { version: "1.1" }).config).toEqual(config);
});

test("settings are read as the engine reads them", async () => {
    const stack = await newStack(empty);
    const file = join(stack.workspace.workDir, "Pulumi.dev.yaml");
    writeFileSync(
        file,
        `${readFileSync(file, "utf8")}config:
  project:a: yes
  project:b: 0777
  project:c: 1_000
  project:d: 2024-01-01
  project:e: 0b11
  project:f: 18446744073709551616
  project:g: 9007199254740993
  project:h: 1:20
  project:i: [1, on]
`,
    );
    const texts = async (): Promise<string[]> => {
        const config = await stack.getAllConfig();
        return [..."abcdefghi"].map((key) => config[`project:${key}`]?.value ?? "");
    };
    const before = await texts();
    expect(before).toEqual([
        ...["yes", "0777", "1_000", "2024-01-01", "3", "18446744073709551616", "9007199254740993", "1:20", '[1,"on"]'],
    ]);
    await stack.workspace.saveStackSettings("dev", await stack.workspace.stackSettings("dev"));
    expect(await texts()).toEqual(before);
});

test("texts of project settings stay texts", async () => {
    const projectSettings = { name: "project", runtime: "nodejs", description: "12e5", author: "0x1f" } as const;
    const stack = await newStack(empty, placed({ projectSettings }));
    expect(await stack.workspace.projectSettings()).toMatchObject(projectSettings);
    expect(readFileSync(join(stack.workspace.workDir, "Pulumi.yaml"), "utf8")).toContain('description: "12e5"\n');
});
