// Reads the data that the engine wrote into the page, or follows a run where there are none, and shows them.

import { render } from "preact";
import { follow, followPrinting, show } from "./app.ts";
import type { PageData } from "./data.ts";
import { followAddress } from "./route.ts";
import { Shell } from "./views/shell.tsx";

const written = document.getElementById("maloko-data")?.textContent ?? "";
followAddress();
followPrinting();
try {
    const data = JSON.parse(written) as PageData | null;
    if (data === null) follow();
    else show(data);
} catch {
    // The empty form, as it is built: the frame says so.
}
render(<Shell />, document.getElementById("page") as HTMLElement);
