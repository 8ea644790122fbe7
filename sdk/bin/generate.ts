// npm run generate -w @wonrail/sdk. npm runs it in the package's folder.
import { writeFileSync } from "node:fs";
import { pythonFiles } from "./python/index.ts";
import { renderApi } from "./renderApi.ts";
import { renderErrorCodes } from "./renderErrorCodes.ts";

writeFileSync("src/core/errorCodes.ts", renderErrorCodes());
writeFileSync("api.md", renderApi());
for (const [path, render] of Object.entries(pythonFiles)) writeFileSync(path, render());
