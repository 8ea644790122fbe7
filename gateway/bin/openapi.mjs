// Writes gateway/openapi.json and gateway/postman.json from the routes. A test fails when a committed file differs.
import { writeFileSync } from "node:fs";
import { renderOpenApi, renderPostmanCollection } from "../dist/routes/renderOpenApi.js";

for (const [name, text] of [
  ["openapi.json", renderOpenApi()],
  ["postman.json", renderPostmanCollection()],
]) {
  writeFileSync(new URL(`../${name}`, import.meta.url), text);
  process.stdout.write(`wrote gateway/${name}\n`);
}
