import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Request, type RequestHandler, Router } from "express";
import { type AddressLimits } from "@wonrail/kit/addressLimits";
import { MethodNotAllowedError } from "../middleware/answerErrors";
import { type ApiResponse } from "../middleware/exchange";
import { prebuild, type PrebuiltAnswer, sendPrebuilt } from "../middleware/prebuiltAnswer";
import { type OpenApiDocument } from "./openapi";
import { postmanCollection } from "./postmanCollection";

const DOCUMENT_PATH = "/api/openapi.json";
const COLLECTION_PATH = "/api/postman.json";
const PAGES_PATH = "/api/docs";

/** The package's only file that needs neither its framework nor the internet. */
const SCALAR_BUNDLE = join(dirname(require.resolve("@scalar/fastify-api-reference")), "js/standalone.js");

export interface PagesOptions {
  /** The same limits as for operations that need no key. */
  openRates: AddressLimits;
  addressOf: (req: Request) => string;
}

/**
 * The OpenAPI document, its collection for Postman and Bruno, and its page. They are no operations, so only their refusals use the
 * envelope.
 */
export function pages(document: OpenApiDocument, { openRates, addressOf }: PagesOptions): Router {
  const router = Router({ caseSensitive: true });

  function serve(path: string, route: string, answer: PrebuiltAnswer): void {
    const limit: RequestHandler = (req, res, next) => {
      const { exchange } = (res as ApiResponse).locals;
      exchange.route = route;
      exchange.clientAddress = addressOf(req);
      openRates.check(exchange.clientAddress);
      openRates.take(exchange.clientAddress);
      next();
    };
    router
      .route(path)
      .all(limit)
      .get((req, res) => sendPrebuilt(req, res as ApiResponse, answer))
      .all(onlyGet);
  }

  const json = (value: object) =>
    prebuild(Buffer.from(JSON.stringify(value)), { contentType: "application/json; charset=utf-8" });
  serve(DOCUMENT_PATH, DOCUMENT_PATH, json(document));
  serve(COLLECTION_PATH, COLLECTION_PATH, json(postmanCollection(document)));
  for (const [name, answer] of Object.entries(pageParts())) serve(`${PAGES_PATH}${name}`, PAGES_PATH, answer);
  return router;
}

function pageParts(): Record<string, PrebuiltAnswer> {
  const javascript = { contentType: "text/javascript; charset=utf-8" };
  return {
    "": prebuild(Buffer.from(PAGE), {
      contentType: "text/html; charset=utf-8",
      contentSecurityPolicy: PAGE_POLICY,
    }),
    "/page.js": prebuild(Buffer.from(START), javascript),
    "/scalar.js": prebuild(readFileSync(SCALAR_BUNDLE), javascript),
  };
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Wonrail API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <script src="${PAGES_PATH}/scalar.js"></script>
    <script src="${PAGES_PATH}/page.js"></script>
  </body>
</html>
`;

const CONFIGURATION = {
  url: DOCUMENT_PATH,
  metaData: { title: "Wonrail API" },
  // Requests go from the browser to this host, not through a proxy of the page's maker.
  proxyUrl: "",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  authentication: { preferredSecurityScheme: "apiKey" },
};

const START = `Scalar.createApiReference("#reference", ${JSON.stringify(CONFIGURATION)});\n`;

/** Allows everything from this host and nothing else. The page writes inline styles. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function onlyGet(): never {
  throw new MethodNotAllowedError("GET, HEAD");
}
