import { writeFileSync } from "node:fs";
import { pages } from "./pages";

// npm runs its scripts in the folder of package.json.
for (const [path, render] of Object.entries(pages)) {
  writeFileSync(path, render());
  process.stdout.write(`wrote ${path}\n`);
}
