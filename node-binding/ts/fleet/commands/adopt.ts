// `fleet adopt`: gives stacks that exist the key of the fleet.
import { adoptKey } from "../beside";
import { ConfigurationError } from "../ends";
import { fleetOf, type Request } from "./request";
import { say } from "./texts";

const NAMED = 3;

/** Goes round the stacks one by one; what fails is named at the end, and the others have the key. */
export async function run(asked: Request): Promise<number> {
    const plan = fleetOf(asked).plan("up");
    const { key, stacks } = plan;
    if (key !== "fleet") {
        throw new ConfigurationError(
            "the fleet's stacks have keys of their own: write `key: fleet` into the fleet's file first",
        );
    }
    if (!asked.yes) {
        throw new ConfigurationError(
            `one passphrase will open all ${stacks.length} stacks: add --yes if that is what you want`,
        );
    }
    const failed: string[] = [];
    for (const stack of stacks) {
        const message = await adoptKey(stack, plan);
        if (message !== "") {
            failed.push(`${stack.id}: ${message}`);
        }
    }
    say(`${stacks.length - failed.length} of ${stacks.length} stacks have the key of the fleet`);
    for (const text of failed.slice(0, NAMED)) {
        say(`  ${text}`);
    }
    return failed.length > 0 ? 1 : 0;
}
