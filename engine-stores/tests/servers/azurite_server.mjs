// Azurite for tests: in memory, on a free port that is printed, with a container named "states". It serves until its
// standard input is closed, so that it never outlives its test.

import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// The account that every Azurite has, with its published key.
const ACCOUNT = "devstoreaccount1";
const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const VERSION = "2021-08-06";

const main = fileURLToPath(new URL("node_modules/azurite/dist/src/blob/main.js", import.meta.url));
const options = ["--inMemoryPersistence", "--blobPort", "0", "--skipApiVersionCheck", "--disableTelemetry"];
const server = spawn(process.execPath, [main, ...options], { stdio: ["ignore", "pipe", "inherit"] });
process.stdin.resume();
process.stdin.on("end", () => server.kill());
server.on("exit", () => process.exit());

async function makeContainer(address) {
  const date = new Date().toUTCString();
  const headers = { "x-ms-date": date, "x-ms-version": VERSION };
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
  const resource = `/${ACCOUNT}/${ACCOUNT}/states\nrestype:container`;
  const text = ["PUT", ...Array(11).fill(""), ...lines, resource].join("\n");
  const signature = createHmac("sha256", Buffer.from(KEY, "base64")).update(text, "utf8").digest("base64");
  const made = await fetch(`${address}/${ACCOUNT}/states?restype=container`, {
    method: "PUT",
    headers: { ...headers, authorization: `SharedKey ${ACCOUNT}:${signature}` },
  });
  if (!made.ok) throw new Error(`the container cannot be made: ${made.status} ${await made.text()}`);
}

for await (const line of createInterface({ input: server.stdout })) {
  const address = line.match(/http:\/\/127\.0\.0\.1:(\d+)/);
  if (address === null) continue;
  await makeContainer(address[0]);
  console.log(address[1]);
}
