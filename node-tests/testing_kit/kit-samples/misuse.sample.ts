import * as kit from "maloko/vitest";
import register from "./misuse.cjs";

register(kit);
