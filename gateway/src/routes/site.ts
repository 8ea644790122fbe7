import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { type NextFunction, type Request, Router } from "express";
import { type AddressLimits } from "@wonrail/kit/addressLimits";
import { MethodNotAllowedError } from "../middleware/answerErrors";
import { type ApiResponse } from "../middleware/exchange";
import { prebuild, type PrebuiltAnswer, sendPrebuilt } from "../middleware/prebuiltAnswer";

const SITE_PATH = "/docs";
/** `npm run docs:build` writes it. The image has it at the same place. */
export const SITE_FOLDER = join(__dirname, "../../../docs/dist");

export interface SiteOptions {
  folder: string;
  /** Limits of their own: one page of the site has some twenty files. */
  siteRates: AddressLimits;
  addressOf: (req: Request) => string;
}

/**
 * The documentation site. All files are read at the start, so a path can name a file of the site and
 * no other. Without a built site every path below /docs is unknown.
 */
export function site({ folder, siteRates, addressOf }: SiteOptions): Router {
  const router = Router({ caseSensitive: true });
  const answers = readSite(folder);
  if (answers.size > 0) router.use(SITE_PATH, answer);
  return router;

  function answer(req: Request, res: ApiResponse, next: NextFunction): void {
    const { exchange } = res.locals;
    exchange.route = SITE_PATH;
    exchange.clientAddress = addressOf(req);
    siteRates.check(exchange.clientAddress);
    siteRates.take(exchange.clientAddress);
    if (req.method !== "GET" && req.method !== "HEAD") throw new MethodNotAllowedError("GET, HEAD");
    const found = answers.get(nameOf(req.originalUrl)) ?? answers.get(`${nameOf(req.originalUrl)}.html`);
    if (found === undefined) return next();
    sendPrebuilt(req, res, found);
  }
}

/** `/docs`, `/docs/` and `/docs/?q=1` are index.html. A page needs no `.html`. */
function nameOf(url: string): string {
  const path = url.split("?")[0]!.slice(SITE_PATH.length + 1);
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}

function readSite(folder: string): Map<string, PrebuiltAnswer> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in CONTENT_TYPES)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
  return new Map(names.map((name) => [name, readFile(join(folder, name), name)]));
}

function readFile(file: string, name: string): PrebuiltAnswer {
  const body = readFileSync(file);
  const contentType = CONTENT_TYPES[extname(name)]!;
  return prebuild(body, {
    contentType,
    gzipped: existsSync(`${file}.gz`) ? readFileSync(`${file}.gz`) : undefined,
    // Names below assets/ contain a hash of the content.
    cacheControl: name.startsWith("assets/") ? "public, max-age=31536000, immutable" : undefined,
    contentSecurityPolicy: name.endsWith(".html") ? policyOf(body.toString()) : undefined,
  });
}

const CONTENT_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Everything comes from this host. The page's inline scripts are allowed by their hashes. Highlighted
 * code and diagrams have inline styles.
 */
function policyOf(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(scripts)].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
