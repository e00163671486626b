// Directories for the settings files of inline programs that have none of their own. State is never kept there.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

const made = new Set<string>();

const owners = new FinalizationRegistry<string>((directory) => {
    made.delete(directory);
    fs.rm(directory, { recursive: true, force: true }, () => {});
});

/** Makes a directory that lasts as long as its owner, and no longer than the process. */
export function temporaryDirectory(owner: object): string {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "automation-"));
    if (!process.listeners("exit").includes(removeAll)) {
        process.on("exit", removeAll);
    }
    made.add(directory);
    owners.register(owner, directory);
    return directory;
}

function removeAll(): void {
    for (const directory of made) {
        fs.rmSync(directory, { recursive: true, force: true });
    }
}
