import { type Request, type RequestHandler, type Response, Router } from "express";
import { type AddressLimits } from "@wonrail/kit/addressLimits";
import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { Counter, type Registry } from "@wonrail/kit/metrics";
import { type Config, isHttps } from "../config";
import { ConsoleError } from "../errors";
import { type IdentityProvider } from "../identity/provider";
import { returnPath } from "../identity/returnPath";
import { hashToken, newToken } from "../identity/tokens";
import { sendData, sendPage } from "../middleware/answer";
import { clearCookie, readCookie, setCookie } from "../middleware/cookies";
import { type Sessions } from "../middleware/sessions";
import { type Identity, insertSignIn, takeLink, takeSignIn } from "../store/signIns";

export interface SignInParts {
  db: Database;
  settings: Pick<Config, "PUBLIC_URL">;
  provider: IdentityProvider | undefined;
  sessions: Sessions;
  /** The limit per client address. */
  limits: AddressLimits;
  addressOf: (req: Request) => string;
  log: Log;
  registry: Registry;
}

/** The pages below /auth: by the identity provider, or by one-time links when there is none. */
export function signInRoutes(parts: SignInParts): Router {
  const { provider, sessions } = parts;
  const router = Router({ caseSensitive: true });
  router.use("/auth", (req, res, next) => {
    res.locals.route = `/auth${ROUTES.has(req.path) ? req.path : ""}`;
    // Express would answer HEAD by the handler of GET, which uses up a link.
    if (req.method === "HEAD") return void res.status(405).set("Allow", "GET").end();
    next();
  });
  if (provider === undefined) addLinkRoutes(router, parts);
  else addProviderRoutes(router, provider, parts);
  router.post("/auth/sign-out", async (req, res) => {
    await sessions.readForChange(req, res);
    await sessions.end(req, res);
    // Without the provider's answer the operator is signed out of the console alone.
    const endSessionUrl = await provider?.endSessionUrl().catch(() => undefined);
    sendData(res, { endSessionUrl: endSessionUrl ?? null });
  });
  return router;
}

const ROUTES = new Set(["/sign-in", "/callback", "/link", "/sign-out"]);

function addProviderRoutes(router: Router, provider: IdentityProvider, parts: SignInParts): void {
  const { db, settings, sessions } = parts;
  const isSecure = isHttps(settings.PUBLIC_URL);
  const cookie = { name: isSecure ? "__Host-wonrail-sign-in" : "wonrail-sign-in", isSecure };
  const limit = limiter(parts);
  const record = signInRecorder("oidc", parts);

  router.get("/auth/sign-in", limit, async (req, res) => {
    const { url, pending } = await provider.begin();
    const token = newToken();
    const returnTo = returnPath(req.query.returnTo, settings.PUBLIC_URL);
    await insertSignIn(db, hashToken(token)!, { ...pending, returnTo });
    setCookie(res, cookie, token);
    res.redirect(303, url);
  });

  router.get("/auth/callback", limit, async (req, res) => {
    await record(async () => {
      const tokenHash = hashToken(readCookie(req, cookie.name));
      clearCookie(res, cookie);
      const pending = tokenHash && (await takeSignIn(db, tokenHash));
      if (pending === undefined)
        throw new ConsoleError("CON_004", { reason: "this sign-in is over, or began in another browser" });
      const identity = await provider.finish(queryOf(req), pending);
      await sessions.start(req, res, identity);
      res.redirect(303, pending.returnTo);
      return identity;
    });
  });
}

function addLinkRoutes(router: Router, parts: SignInParts): void {
  const { db, sessions } = parts;
  const limit = limiter(parts);
  const record = signInRecorder("link", parts);

  router.get("/auth/sign-in", limit, (_req, res) => {
    sendPage(
      res,
      200,
      "Sign in by a one-time link",
      "This console has no identity provider. npm run up prints a link that signs you in.\n" +
        "For another link, run: npm run console:link -- --operator NAME --role viewer",
    );
  });

  router.get("/auth/link", limit, async (req, res) => {
    await record(async () => {
      const tokenHash = hashToken(req.query.token);
      const identity = tokenHash && (await takeLink(db, tokenHash));
      if (identity === undefined)
        throw new ConsoleError("CON_004", { reason: "the link was used, or it is too old" });
      await sessions.start(req, res, identity);
      res.redirect(303, "/");
      return identity;
    });
  });
}

function limiter({ limits, addressOf }: SignInParts): RequestHandler {
  return (req: Request, _res: Response, next) => {
    const address = addressOf(req);
    limits.check(address);
    limits.take(address);
    next();
  };
}

function queryOf({ originalUrl }: Request): string {
  const at = originalUrl.indexOf("?");
  return at < 0 ? "" : originalUrl.slice(at);
}

function signInRecorder(way: "oidc" | "link", { log, registry }: SignInParts) {
  const signIns = new Counter({
    name: "console_sign_ins_total",
    help: "Sign-ins of operators, by the way they sign in and whether they succeeded",
    labelNames: ["way", "outcome"],
    registers: [registry],
  });
  for (const outcome of ["ok", "failed"]) signIns.inc({ way, outcome }, 0);
  return async (signIn: () => Promise<Identity>): Promise<void> => {
    try {
      const { operator, roles } = await signIn();
      signIns.inc({ way, outcome: "ok" });
      log.info({ way, operator, roles }, "operator signed in");
    } catch (error) {
      signIns.inc({ way, outcome: "failed" });
      throw error;
    }
  };
}
