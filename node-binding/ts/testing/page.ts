// The page of a failed test's last run.
import * as fs from "node:fs";
import * as path from "node:path";
import { loadAddon } from "../native";

// So many letters of a test's name are in that of its file.
const MAX_NAME_LENGTH = 200;

/** The directory for the pages of failed tests: MALOKO_PAGE. */
export function pageDirectory(): string | undefined {
    return process.env.MALOKO_PAGE ? path.resolve(process.env.MALOKO_PAGE) : undefined;
}

/** Writes the page of what was noted of a test's last run into that directory, in a file named after the test; gives the file. */
export function writePage({ file, title }: { file: string; title: string }, record: string, directory: string): string {
    const place = path.relative(process.cwd(), file);
    const name = `${place} ${title}`.replace(/[^\w.-]+/g, "_").slice(-MAX_NAME_LENGTH);
    fs.mkdirSync(directory, { recursive: true });
    const page = path.join(directory, `${name.replace(/^_+|_+$/g, "")}.html`);
    fs.writeFileSync(page, loadAddon().pageOfRecord(record));
    return page;
}
