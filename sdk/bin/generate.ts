// npm run generate -w @wonrail/sdk. npm runs it in the package's folder.
import { writeFileSync } from "node:fs";
import { renderApi } from "./renderApi.ts";
import { renderErrorCodes } from "./renderErrorCodes.ts";

writeFileSync("src/core/errorCodes.ts", renderErrorCodes());
writeFileSync("api.md", renderApi());
