// Programs of the fleets under test. Their objects are files of the folder WORLD, named by their operation keys.
const fs = require("node:fs");
const path = require("node:path");
const { setTimeout: pause } = require("node:timers/promises");
const { currentCall } = require("maloko");
const pulumi = require("@pulumi/pulumi");

const LOOK_MS = 50;
const world = (...names) => path.join(process.env.WORLD, ...names);

/** Makes, reads and removes files. */
class Files {
    async diff(_id, olds, news) {
        return { changes: JSON.stringify(olds) !== JSON.stringify(news) };
    }

    async create(props) {
        const { owner, fails, holds, grips } = props;
        const { operationKey, signal } = currentCall();
        fs.mkdirSync(world("objects", owner), { recursive: true });
        if (fails === "always" || (fails === "once" && !fs.existsSync(world("failed", owner)))) {
            mark("failed", owner);
            throw new Error("the service has no room");
        }
        if (holds) {
            await hold(signal, owner);
        }
        if (grips && isFirst("gripped")) {
            // Nothing else of the thread goes on meanwhile.
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, grips * 1000);
            fs.writeFileSync(world("let-go"), "");
        }
        // A second call for the same object finds it; a second object would be a second file.
        fs.appendFileSync(world("objects", owner, operationKey), `${process.pid}\n`);
        return { id: `${owner}/${operationKey}`, outs: props };
    }

    async read(id, props) {
        return fs.existsSync(world("objects", id)) ? { id, props } : {};
    }

    async update(_id, _olds, news) {
        return { outs: news };
    }

    async delete(id) {
        fs.rmSync(world("objects", id), { force: true });
    }
}

function isFirst(name) {
    try {
        fs.writeFileSync(world(name), "", { flag: "wx" });
        return true;
    } catch {
        return false;
    }
}

function mark(kind, owner) {
    fs.mkdirSync(world(kind), { recursive: true });
    fs.writeFileSync(world(kind, owner), "");
}

// Waits for the file `go`, as a slow service does; tells who was told to end.
async function hold(signal, owner) {
    mark("held", owner);
    while (!fs.existsSync(world("go"))) {
        await pause(LOOK_MS);
        if (signal.aborted) {
            mark("told", owner);
            throw new Error("told to end");
        }
    }
}

class File extends pulumi.dynamic.Resource {
    constructor(name, props) {
        super(new Files(), name, props);
    }
}

/** Something that tenants need. */
exports.network = async () => {
    const holds = new pulumi.Config().getBoolean("holds") ?? false;
    new File("network", { owner: pulumi.getStack(), plan: "", fails: "", holds });
    return { range: `10.0.0.0/${pulumi.getStack().length}` };
};

/** Files of a tenant, in a network. */
exports.tenant = async () => {
    const config = new pulumi.Config();
    const props = {
        owner: pulumi.getStack(),
        plan: config.get("plan") ?? "",
        fails: config.get("fails") ?? "",
        holds: config.getBoolean("holds") ?? false,
    };
    if (config.get("grips")) {
        props.grips = config.requireNumber("grips");
    }
    const outputs = {};
    const network = config.get("network");
    if (network) {
        const early = config.get("early");
        while (early && !fs.existsSync(world("held", network))) {
            await pause(LOOK_MS);
        }
        const reference = new pulumi.StackReference(`organization/net/${network}`);
        outputs.range = early === "lenient" ? reference.getOutput("range") : reference.requireOutput("range");
    }
    if (config.get("warns")) {
        pulumi.log.warn(`look at\n${config.require("warns")}`);
    }
    for (let number = 0; number < (config.getNumber("files") ?? 3); number++) {
        new File(`file-${number}`, { ...props, fails: number === 1 ? props.fails : "" });
    }
    if (config.get("token")) {
        outputs.token = config.requireSecret("token");
    }
    return outputs;
};
