// npm run generate -w @wonrail/sdk. npm runs it in the package's folder.
import { writeFileSync } from "node:fs";
import { renderErrorCodes } from "./renderErrorCodes.ts";

writeFileSync("src/core/errorCodes.ts", renderErrorCodes());
