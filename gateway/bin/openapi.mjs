// Writes gateway/openapi.json from the routes. A test fails when the committed file differs.
import { writeFileSync } from "node:fs";
import { renderOpenApi } from "../dist/routes/renderOpenApi.js";

writeFileSync(new URL("../openapi.json", import.meta.url), renderOpenApi());
process.stdout.write("wrote gateway/openapi.json\n");
