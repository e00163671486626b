// Passes connections on to a server of this machine, in a thread of its own: with theirs, tests wait for commands.
const net = require("node:net");
const { parentPort, workerData } = require("node:worker_threads");

/** By each end of a connection, where what comes from there goes. */
const ways = new Map();
let isOpen = true;

const listener = net.createServer((caller) => {
    const server = net.connect(workerData.target, "127.0.0.1");
    for (const [source, sink] of [
        [caller, server],
        [server, caller],
    ]) {
        ways.set(source, sink);
        source.on("error", () => sink.destroy());
        source.on("close", () => ways.delete(source));
        if (isOpen) {
            source.pipe(sink);
        }
    }
});
listener.listen(workerData.port, "127.0.0.1", () => parentPort.postMessage("ready"));

parentPort.on("message", (word) => {
    isOpen = word === "mend";
    for (const [source, sink] of ways) {
        if (isOpen) {
            source.pipe(sink);
        } else {
            source.unpipe(sink).pause();
        }
    }
    parentPort.postMessage(word);
});
