import { Router } from "express";
import helmet from "helmet";
import swaggerUi from "swagger-ui-express";
import { DomainError } from "@wonrail/kit/contract/errors";
import { sendJson } from "../middleware/envelope";
import { MethodNotAllowedError } from "../middleware/answerErrors";
import { type ApiResponse } from "../middleware/exchange";
import { type OpenApiDocument } from "./openapi";

const DOCUMENT_PATH = "/api/openapi.json";
const PAGES_PATH = "/api/docs";

/** The OpenAPI document and its pages. They are about the contract, so they are not in the envelope; their refusals are. */
export function pages(document: OpenApiDocument): Router {
  const text = JSON.stringify(document);
  const router = Router({ caseSensitive: true });
  router
    .route(DOCUMENT_PATH)
    .get((_req, res) => {
      const response = res as ApiResponse;
      response.locals.exchange.route = DOCUMENT_PATH;
      sendJson(response, 200, text);
    })
    .all(onlyGet);

  router.use(PAGES_PATH, (req, res, next) => {
    (res as ApiResponse).locals.exchange.route = PAGES_PATH;
    if (req.method !== "GET" && req.method !== "HEAD") return onlyGet();
    // The page names its parts relative to itself, so it has to be a folder.
    if (req.originalUrl === PAGES_PATH) return res.redirect(308, `${PAGES_PATH}/`);
    // The folder that Swagger UI is served from holds more than the page needs; only what it needs is there.
    if (!PARTS.has(req.path)) throw new DomainError("REQ_004");
    for (const name of CONDITIONS) delete req.headers[name];
    next();
  });
  router.use(PAGES_PATH, securityHeaders, ...swaggerUi.serve);
  router.get(`${PAGES_PATH}/`, swaggerUi.setup(undefined, PAGE_OPTIONS));
  return router;
}

const PARTS = new Set([
  "/",
  "/swagger-ui.css",
  "/swagger-ui-bundle.js",
  "/swagger-ui-standalone-preset.js",
  "/swagger-ui-init.js",
  "/favicon-16x16.png",
  "/favicon-32x32.png",
]);

/** They can ask for what the file server refuses with an error of its own, which would be answered, counted and logged as a failure of ours. */
const CONDITIONS = ["range", "if-match", "if-unmodified-since"];

/** Everything from our own host and nothing from anywhere else; the inline styles are Swagger UI's own. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'", "'unsafe-inline'"],
      "img-src": ["'self'", "data:"],
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
    },
  },
});

const PAGE_OPTIONS: swaggerUi.SwaggerUiOptions = {
  customSiteTitle: "Wonrail API",
  swaggerUrl: DOCUMENT_PATH,
  swaggerOptions: {
    // The default sends the document's address to somebody else's validator.
    validatorUrl: null,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    docExpansion: "list",
  },
};

function onlyGet(): never {
  throw new MethodNotAllowedError("GET, HEAD");
}
