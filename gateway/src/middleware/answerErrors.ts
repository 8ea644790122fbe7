import { type ErrorRequestHandler, type Request, type RequestHandler } from "express";
import { runInContext } from "@wonrail/kit/context";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import { AddressLimitError } from "@wonrail/kit/addressLimits";
import { addRateHeaders, type Refusal, sendRefusal } from "./envelope";
import { type ApiResponse } from "./exchange";

/** Turns every failure into an answer. Unexpected errors are logged here, once, and never shown. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (error: unknown, _req, response, _next) => {
    const res = response as ApiResponse;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    if (error instanceof AddressLimitError) addRateHeaders(res.locals.exchange, error.rate);
    sendRefusal(
      res,
      refusalOf(error, (unexpected) => {
        runInContext(res.locals.exchange.context, () => log.error({ err: unexpected }, "request failed"));
      }),
    );
  };
}

/** Long enough to recognise a mistyped path. */
const MAX_ECHOED_PATH = 200;

export const refuseUnknownRoute: RequestHandler = (req) => {
  throw unknownRoute(req);
};

export function unknownRoute({ method, path }: Pick<Request, "method" | "path">): DomainError {
  return new DomainError("REQ_004", { method, path: path.slice(0, MAX_ECHOED_PATH) });
}

/** Thrown for a known path with another method. */
export class MethodNotAllowedError extends Error {
  override readonly name = "MethodNotAllowedError";

  constructor(readonly allow: string) {
    super("method not allowed");
  }
}

function refusalOf(error: unknown, onUnexpected: (error: unknown) => void): Refusal {
  if (error instanceof DomainError) {
    // The failing service has logged the cause. The gateway only passes the code on.
    if (error.code === "SYS_001" && error.cause !== undefined) onUnexpected(error);
    return { error };
  }
  if (error instanceof MethodNotAllowedError)
    return { error: new DomainError("REQ_005"), allow: error.allow };
  if (error instanceof URIError) {
    return { error: invalidRequest([{ path: "(path)", message: "has percent-encoding that is not UTF-8" }]) };
  }
  onUnexpected(error);
  return { error: new DomainError("SYS_001", null, { cause: error }) };
}
