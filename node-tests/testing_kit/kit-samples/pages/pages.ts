import * as kit from "maloko/vitest";
import register from "./pages.cjs";

register(kit);
