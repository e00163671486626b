// What the environment has of a run's own: its configuration, where Pulumi sets a variable for a process of its own. Runs of
// one process have configurations of their own, so nothing is set: whoever asks gets that of the run whose code asks.
import { currentStore } from "./store";

const CONFIG_VARIABLE = "PULUMI_CONFIG";

// Neither is taken away by what a call makes of the global ones. It says so, and throws nothing, where something is frozen.
const own = process;
const { get: getMember, has: hasMember, set: setMember } = Reflect;

let users = 0;
let original: NodeJS.ProcessEnv | undefined;
let answering: NodeJS.ProcessEnv | undefined;

/** The configuration of the run that the calling code belongs to, as the SDK keeps it. */
function ownConfig(): string | undefined {
    const config = (currentStore() as { config?: Record<string, string> } | undefined)?.config;
    return config?.[CONFIG_VARIABLE];
}

/** Answers `process.env.PULUMI_CONFIG` for as long as an action takes. Child processes do not get it. */
export async function withConfigVariable<T>(action: () => Promise<T>): Promise<T> {
    if (users++ === 0) {
        original = own.env;
        answering = new Proxy(original, {
            get: (target, name) =>
                (name === CONFIG_VARIABLE ? ownConfig() : undefined) ?? (getMember(target, name) as unknown),
            set: (target, name, value) => setMember(target, name, value),
            has: (target, name) => (name === CONFIG_VARIABLE && ownConfig() !== undefined) || hasMember(target, name),
        });
        setMember(own, "env", answering);
    }
    try {
        return await action();
    } finally {
        // Whoever has replaced it since then keeps what he has put there.
        if (--users === 0 && own.env === answering && original !== undefined) {
            setMember(own, "env", original);
        }
    }
}
