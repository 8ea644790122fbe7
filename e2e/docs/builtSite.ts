import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "../ops/repository";

const SITE = join(ROOT, "docs/dist");
const BASE = "/docs/";
/** Paths of the gateway outside the site. */
const GATEWAY_PATHS = ["/api/docs", "/api/openapi.json", "/api/postman.json"];

export interface BuiltPage {
  /** The path below the site's base, such as guides/sdk.html. */
  path: string;
  html: string;
}

export function readBuiltPages(): BuiltPage[] {
  return readdirSync(SITE, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".html"))
    .map((path) => ({ path, html: readFileSync(join(SITE, path), "utf8") }));
}

/** Links to a page, a file or an anchor of the site that does not exist, as "page: link". */
export function findDeadLinks(pages: BuiltPage[]): string[] {
  const anchors = new Map(pages.map(({ path, html }) => [path, idsIn(html)]));
  return pages.flatMap(({ path, html }) =>
    linksIn(html)
      .filter((link) => !isAlive(link, path, anchors))
      .map((link) => `${path}: ${link}`),
  );
}

/** Scripts, styles, images and fonts that a page loads from another host, as "page: address". */
export function findExternalAssets(pages: BuiltPage[]): string[] {
  const styles = readdirSync(join(SITE, "assets"))
    .filter((file) => file.endsWith(".css"))
    .map((file) => ({ path: `assets/${file}`, html: readFileSync(join(SITE, "assets", file), "utf8") }));
  return [...pages, ...styles].flatMap(({ path, html }) =>
    assetsIn(html)
      .filter((address) => !address.startsWith(BASE) && !address.startsWith("data:"))
      .map((address) => `${path}: ${address}`),
  );
}

/** Pages that no other page links to. */
export function findUnlinkedPages(pages: BuiltPage[]): string[] {
  const linked = new Set(
    pages.flatMap(({ path, html }) =>
      linksIn(html)
        .map((link) => targetOf(link, path).file)
        .filter((file) => file !== path),
    ),
  );
  return pages.map(({ path }) => path).filter((path) => !linked.has(path) && path !== "404.html");
}

function isAlive(link: string, from: string, anchors: Map<string, Set<string>>): boolean {
  if (/^[a-z]+:/.test(link) || GATEWAY_PATHS.includes(link)) return true;
  const { file, anchor } = targetOf(link, from);
  const ids = anchors.get(file);
  if (ids === undefined) return anchor === undefined && existsSync(join(SITE, file));
  return anchor === undefined || ids.has(anchor);
}

function targetOf(link: string, from: string): { file: string; anchor: string | undefined } {
  const [path = "", anchor] = decodeURIComponent(link).split("#");
  const absolute = path.startsWith("/") ? path : posix.join(BASE, posix.dirname(from), path);
  const below = absolute.startsWith(BASE) ? absolute.slice(BASE.length) : absolute;
  const file = path === "" ? from : below === "" || below.endsWith("/") ? `${below}index.html` : below;
  return { file, anchor };
}

function linksIn(html: string): string[] {
  return [...html.matchAll(/<a\b[^>]*? href="([^"]*)"/g)].map(([, link]) => link!.replaceAll("&amp;", "&"));
}

function idsIn(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!));
}

function assetsIn(html: string): string[] {
  const tags = [...html.matchAll(/<(?:script|img|link|source|iframe)\b[^>]*? (?:src|href)="([^"]*)"/g)];
  return [...tags, ...html.matchAll(/url\(["']?([^"')]+)/g)].map(([, address]) => address!);
}
