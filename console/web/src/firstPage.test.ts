import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const WEB = join(__dirname, "..");
const DIST = join(WEB, "dist");
const LIMIT_BYTES = 250_000;

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  src?: string;
}

let manifest: Record<string, Chunk>;

beforeAll(() => {
  // Does nothing when the page was built from the present sources.
  execFileSync(process.execPath, [join(WEB, "bin/build.mjs")]);
  manifest = JSON.parse(readFileSync(join(DIST, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
});

test("the first page loads at most 250 kB of compressed script", () => {
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry)!;
  const bytes = scriptsOf(entry).reduce((sum, file) => sum + gzipSync(readDist(file)).length, 0);
  expect(bytes).toBeLessThanOrEqual(LIMIT_BYTES);
});

test("the page has no inline script, no inline style and no address of another site", () => {
  const html = readFileSync(join(DIST, "index.html"), "utf8");
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/g)];
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);
  expect(inline).toEqual([]);
  expect(addresses.filter((address) => !/^\/(?!\/)/.test(address))).toEqual([]);
});

test("no script makes code from text, which the page's policy refuses", () => {
  const makers = Object.values(manifest)
    .map(({ file }) => file)
    .filter(
      (file) => file.endsWith(".js") && /\bnew Function\(|[^.\w]eval\(/.test(readDist(file).toString()),
    );
  expect(makers).toEqual([]);
});

/** A chunk with everything that it imports statically. */
function scriptsOf(entry: Chunk): string[] {
  const files = new Set<string>();
  const add = ({ file, imports = [] }: Chunk) => {
    if (files.has(file)) return;
    files.add(file);
    for (const name of imports) add(manifest[name]!);
  };
  add(entry);
  return [...files];
}

function readDist(file: string): Buffer {
  return readFileSync(join(DIST, file));
}
