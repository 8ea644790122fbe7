#!/usr/bin/env node
// npm run docs:build: builds the site into docs/dist, and skips the work when no source has changed.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { DOCS, filesIn, isSiteBuilt, markSiteBuilt, SITE } from "./sources.mjs";

const COMPRESSED = /\.(html|js|css|svg|json)$/;

if (!isSiteBuilt()) {
  // Loaded here only, because it takes longer than the check.
  const { build } = await import("vitepress");
  await build(DOCS);
  for (const file of filesIn(SITE).filter((path) => COMPRESSED.test(path)))
    // Servers need not compress.
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
  markSiteBuilt();
}
