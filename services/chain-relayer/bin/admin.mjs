#!/usr/bin/env node
// What `npm run admin:chain --` and the image call; the commands themselves are in src/admin.ts.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/admin.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  process.stderr.write("The commands are not built yet. Run npm run build first; npm run up does it too.\n");
  process.exit(1);
}
const { main } = await import(built.href);
process.exitCode = await main(process.argv.slice(2));
