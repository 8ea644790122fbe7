#!/usr/bin/env node
// npm run build -w @wonrail/console-web: builds the page into dist, unless no source has changed.
import { writeFileSync } from "node:fs";
import { BUILT, hashOfSources, isWebBuilt, WEB } from "./sources.mjs";

if (!isWebBuilt()) {
  // Loaded here only, because it takes longer than the check.
  const { build } = await import("vite");
  await build({ root: WEB, logLevel: "warn" });
  writeFileSync(BUILT, hashOfSources());
}
