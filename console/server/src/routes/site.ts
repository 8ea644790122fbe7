import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { type RequestHandler } from "express";
import { sendPage } from "../middleware/answer";

/** `npm run build -w @wonrail/console-web` writes it. The image has it at the same place. */
const WEB_FOLDER = join(__dirname, "../../../web/dist");

const CONTENT_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};

interface File {
  contentType: string;
  body: Buffer;
  gzipped: Buffer;
  isImmutable: boolean;
}

/**
 * The web part. All files are read at the start, so a path can name a file of the web part and no
 * other. Other paths get the page, whose script knows its own routes.
 */
export function site(folder = WEB_FOLDER): RequestHandler {
  const files = readSite(folder);
  const page = files.get("index.html");
  return (req, res, next) => {
    if ((req.method !== "GET" && req.method !== "HEAD") || /^\/(api|auth)(\/|$)/.test(req.path))
      return next();
    res.locals.route = "/";
    if (page === undefined)
      return sendPage(
        res,
        503,
        "The web part is not built",
        "Build it with npm run build -w @wonrail/console-web, then start the console again.",
      );
    const name = req.path.slice(1);
    // A missing script must not become a page.
    const file = files.get(name) ?? (name.startsWith("assets/") ? undefined : page);
    if (file === undefined) return next();
    const isCompressed = /\bgzip\b/.test(req.get("accept-encoding") ?? "");
    res.set({ "Content-Type": file.contentType, Vary: "Accept-Encoding" });
    if (file.isImmutable) res.set("Cache-Control", "public, max-age=31536000, immutable");
    if (isCompressed) res.set("Content-Encoding", "gzip");
    res.send(isCompressed ? file.gzipped : file.body);
  };
}

function readSite(folder: string): Map<string, File> {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in CONTENT_TYPES)
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    paths.map((path) => {
      const name = relative(folder, path).split(sep).join("/");
      const body = readFileSync(path);
      const contentType = CONTENT_TYPES[extname(path)]!;
      // Names below assets/ contain a hash of the content.
      return [name, { contentType, body, gzipped: gzipSync(body), isImmutable: name.startsWith("assets/") }];
    }),
  );
}
