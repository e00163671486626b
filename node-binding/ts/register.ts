// `node --import maloko/register service.mjs`: what the files of a service declare at their top level is known to its inline
// programs, exported or not, in ES modules too. Node can only be told so before it loads them.
import { noteDeclarations } from "./loading/program";

noteDeclarations(process.cwd());
