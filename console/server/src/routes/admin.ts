import express, { type RequestHandler, Router } from "express";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type JsonObject } from "@wonrail/kit/json";
import { type Log } from "@wonrail/kit/log";
import { Counter, type Registry } from "@wonrail/kit/metrics";
import { type AdminRpc, type AdminRpcs } from "../adminRpcs";
import { refusalOf, sendData } from "../middleware/answer";
import { type Sessions } from "../middleware/sessions";

const MAX_BODY = "64kb";

export interface AdminRouteParts {
  rpcs: AdminRpcs;
  sessions: Sessions;
  log: Log;
  registry: Registry;
}

/** POST /api/admin/<service>/<rpc>: calls the RPC as the operator of the session. */
export function adminRoute({ rpcs, sessions, log, registry }: AdminRouteParts): Router {
  const record = actionRecorder(log, registry);
  const router = Router({ caseSensitive: true });
  router.post("/api/admin/:service/:rpc", express.json({ limit: MAX_BODY }), async (req, res) => {
    res.locals.route = "/api/admin/:service/:rpc";
    const { operator, roles } = await sessions.readForChange(req, res);
    const { rpc, service } = rpcs.find(`${req.params.service}/${req.params.rpc}`, req.query.service);
    res.locals.route = `/api/admin/${rpc.method}`;
    const call = () => rpcs.call(rpc, service, { name: operator, roles }, readBody(req));
    sendData(res, await record(rpc, { operator, service }, call));
  });
  return router;
}

function readBody(req: Parameters<RequestHandler>[0]): JsonObject {
  if (!req.is("application/json")) throw new DomainError("REQ_007");
  const body = req.body as unknown;
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as JsonObject;
  throw invalidRequest([{ path: "(body)", message: "must be an object" }]);
}

/** Logs and counts the calls that change something, also the refused ones. */
function actionRecorder(log: Log, registry: Registry) {
  const actions = new Counter({
    name: "console_actions_total",
    help: "Calls of admin RPCs that change something, by the code of a refusal or ok",
    labelNames: ["method", "outcome"],
    registers: [registry],
  });
  return async <T>(
    { method, rule }: AdminRpc,
    who: { operator: string; service: string },
    call: () => Promise<T>,
  ): Promise<T> => {
    if (!rule.changes) return call();
    const record = (outcome: string): void => {
      actions.inc({ method, outcome });
      log.info({ method, outcome, ...who }, "operator action");
    };
    try {
      const result = await call();
      record("ok");
      return result;
    } catch (error) {
      record(refusalOf(error).code);
      throw error;
    }
  };
}
