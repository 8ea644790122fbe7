import { readText } from "../ops/repository";

/** Renders docs/guides/python.md: the README of the Python package. */
export function renderPythonSdk(): string {
  const note = "<!-- Generated from sdk/python/README.md by npm run docs; do not edit. -->";
  return readText("sdk/python/README.md").replace("# wonrail\n", `${note}\n\n# The Python client\n`);
}
