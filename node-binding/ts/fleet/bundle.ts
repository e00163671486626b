// The code of the workflows as workers run it. It is bundled once for the packages that are installed, and kept with other tools' caches:
// to bundle it takes more than a second of a processor, for each worker that starts.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { keep, keptBeside, readKept } from "../process/kept-files";
import { temporal } from "./packages";

/** What is logged at least. */
const SAID = "ERROR";

/** The code, as a worker takes it. */
export async function workflowBundle(): Promise<{ code: string }> {
    const worker = require.resolve("@temporalio/worker/package.json");
    const kept = keptBeside(worker, `fleet-workflows-${fingerprint()}.js`);
    const known = readKept(kept);
    if (known !== undefined) {
        return { code: known };
    }
    const { DefaultLogger, bundleWorkflowCode } = temporal("worker");
    const { code } = await bundleWorkflowCode({
        workflowsPath: require.resolve("./workflow"),
        logger: new DefaultLogger(SAID),
    });
    keep(kept, code);
    return { code };
}

/** Of all that the code is made of: the files of this folder, and what packages say of themselves, this one too. */
function fingerprint(): string {
    const hash = createHash("sha256");
    for (const name of readdirSync(__dirname, { recursive: true, encoding: "utf8" }).sort()) {
        if (name.endsWith(".js")) {
            hash.update(`${name}\0`)
                .update(readFileSync(path.join(__dirname, name)))
                .update("\0");
        }
    }
    for (const name of ["../..", "@temporalio/worker", "@temporalio/workflow", "@temporalio/common"]) {
        hash.update(readFileSync(require.resolve(`${name}/package.json`)));
    }
    return hash.digest("hex").slice(0, 32);
}
