// What took long to make, and is the same next time: files that are kept from process to process.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";

/** Where such a file is: with the caches of other tools, beside the package that it is made of, so that it goes when that goes. */
export function keptBeside(packageJson: string, ...names: string[]): string {
    return path.join(path.dirname(packageJson), "../../.cache/maloko", ...names);
}

/** What was kept in a file; undefined where it is to be made, because there is none yet or it cannot be read. */
export function readKept(file: string): string | undefined {
    try {
        return readFileSync(file, "utf8");
    } catch {
        return undefined;
    }
}

/** Puts it there as a whole: processes that begin at the same time must not read half of it. */
export function keep(file: string, text: string): void {
    const made = `${file}.${randomUUID()}`;
    try {
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(made, text);
        renameSync(made, file);
    } catch {
        // A folder that nobody may write to, or a full disk: each process makes its own.
        rmSync(made, { force: true });
    }
}
