// Imported first by the kit for jest: an old jest cannot even load what comes after it.
import { requireSupported } from "./versions";

requireSupported("jest", "`maloko/jest`");
