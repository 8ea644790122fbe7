import { type Request, type Response } from "express";
import { type Database } from "@wonrail/kit/db";
import { type Config, isHttps } from "../config";
import { ConsoleError } from "../errors";
import { csrfTokenOf, hashToken, isCsrfToken, newToken } from "../identity/tokens";
import {
  deleteSession,
  findSession,
  insertSession,
  type StoredSession,
  touchSession,
} from "../store/sessions";
import { type Identity } from "../store/signIns";
import { clearCookie, readCookie, setCookie } from "./cookies";

export interface Session extends StoredSession {
  csrfToken: string;
}

export type Sessions = ReturnType<typeof createSessions>;

type Settings = Pick<Config, "PUBLIC_URL" | "OIDC_ISSUER" | "SESSION_IDLE_MS" | "SESSION_MAX_MS">;

/** The sessions of operators. Only a cookie has the token. */
export function createSessions({ db, settings }: { db: Database; settings: Settings }) {
  const limits = { idleMs: settings.SESSION_IDLE_MS, maxMs: settings.SESSION_MAX_MS };
  const signIn = settings.OIDC_ISSUER === undefined ? "link" : "oidc";
  const notSignedIn = () => new ConsoleError("CON_001", { signInUrl: "/auth/sign-in", signIn });
  const origin = new URL(settings.PUBLIC_URL).origin;
  const cookie = {
    // Browsers accept the prefix __Host- only with Secure, which needs https.
    name: isHttps(settings.PUBLIC_URL) ? "__Host-wonrail-session" : "wonrail-session",
    isSecure: isHttps(settings.PUBLIC_URL),
  };

  async function sessionBy(load: typeof findSession, req: Request, res: Response): Promise<Session> {
    const token = readCookie(req, cookie.name);
    const tokenHash = hashToken(token);
    const stored = tokenHash && (await load(db, tokenHash, limits));
    if (stored === undefined) throw notSignedIn();
    res.locals.operator = stored.operator;
    return { ...stored, csrfToken: csrfTokenOf(token!) };
  }

  async function forget(req: Request): Promise<void> {
    const tokenHash = hashToken(readCookie(req, cookie.name));
    if (tokenHash) await deleteSession(db, tokenHash);
  }

  return {
    /** The request's session. Throws CON_001 without one. */
    read: (req: Request, res: Response) => sessionBy(findSession, req, res),

    /** The session of a request that may change something. It must come from the session's own page. */
    async readForChange(req: Request, res: Response): Promise<Session> {
      const token = readCookie(req, cookie.name);
      if (hashToken(token) === undefined) throw notSignedIn();
      if (req.headers.origin !== origin || !isCsrfToken(req.headers["x-csrf-token"], token!))
        throw new ConsoleError("CON_003");
      return sessionBy(touchSession, req, res);
    },

    /** Starts a session with a new token. A session that the browser had before ends. */
    async start(req: Request, res: Response, identity: Identity): Promise<void> {
      await forget(req);
      const token = newToken();
      await insertSession(db, { tokenHash: hashToken(token)!, ...identity });
      res.locals.operator = identity.operator;
      setCookie(res, cookie, token);
    },

    async end(req: Request, res: Response): Promise<void> {
      await forget(req);
      clearCookie(res, cookie);
    },
  };
}
