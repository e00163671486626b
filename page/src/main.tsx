// Reads the data that the engine wrote into the page, of a stack or of a fleet's run, or follows a run where there are none, and shows them.

import { render } from "preact";
import { follow, followPrinting, show } from "./app.ts";
import type { PageData } from "./data.ts";
import { FleetCatalog } from "./fleet/catalog.ts";
import type { FleetData } from "./fleet/data.ts";
import { FleetShell } from "./fleet/shell.tsx";
import { followAddress } from "./route.ts";
import { Shell } from "./views/shell.tsx";

const written = document.getElementById("maloko-data")?.textContent ?? "";
followAddress();
followPrinting();
let fleet: FleetCatalog | undefined;
try {
    const data = JSON.parse(written) as PageData | FleetData | null;
    if (data === null) follow();
    else if ("page" in data) fleet = new FleetCatalog(data);
    else show(data);
} catch {
    // The empty form, as it is built: the frame says so.
}
render(fleet ? <FleetShell catalog={fleet} /> : <Shell />, document.getElementById("page") as HTMLElement);
