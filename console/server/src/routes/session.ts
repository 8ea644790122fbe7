import { Router } from "express";
import { type AdminRpcs } from "../adminRpcs";
import { type Config } from "../config";
import { sendData } from "../middleware/answer";
import { type Sessions } from "../middleware/sessions";

export interface SessionRouteParts {
  rpcs: AdminRpcs;
  sessions: Sessions;
  settings: Pick<Config, "NETWORK" | "OIDC_ISSUER">;
}

/** GET /api/session: the operator, the CSRF token, and the roles that each RPC needs. */
export function sessionRoute({ rpcs, sessions, settings }: SessionRouteParts): Router {
  const methods = Object.fromEntries(rpcs.list().map(({ method, rule }) => [method, { ...rule }]));
  const router = Router({ caseSensitive: true });
  router.get("/api/session", async (req, res) => {
    res.locals.route = "/api/session";
    const { operator, roles, csrfToken, expiresAt } = await sessions.read(req, res);
    sendData(res, {
      operator: { name: operator, roles },
      csrfToken,
      expiresAt: expiresAt.toISOString(),
      network: settings.NETWORK,
      signIn: settings.OIDC_ISSUER === undefined ? "link" : "oidc",
      methods,
    });
  });
  return router;
}
