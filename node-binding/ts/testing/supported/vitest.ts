// Imported first by the kit for vitest: an old vitest lacks what comes after it.
import { requireSupported } from "./versions";

requireSupported("vitest", "`maloko/vitest`");
