import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/**
 * A service behind a faulty network. Charges take effect once per Idempotency-Key, like the real
 * service's, and each answer gets the next fault.
 */
export type Fault =
  | "none"
  | "drop before" // the connection closes before the execution
  | "drop after" // executed, and the connection closes
  | "reset after" // executed, and the connection is reset in the middle of the answer
  | "slow after" // executed, and the answer is later than any timeout
  | "500 after" // executed, and the answer is 500
  | "400 before"
  | "503 before"
  | "429 before"
  | "redirect before"
  | "502 page after"; // executed, and a proxy answers in its own words

/** Fields of a charge and a record that the tests read. */
const DONE = { chargeId: "chg_1", id: "txn_1", amount: "1000000" };

export interface FaultServer {
  url: string;
  /** The key of each executed request. */
  effects: string[];
  /** Every request's key and time. */
  seen: { key: string | undefined; atMs: number }[];
  close(): Promise<void>;
}

export async function faultServer(faults: Fault[]): Promise<FaultServer> {
  const effects: string[] = [];
  const seen: FaultServer["seen"] = [];
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      const key = request.headers["idempotency-key"] as string | undefined;
      seen.push({ key, atMs: Date.now() });
      const fault = faults[seen.length - 1] ?? "none";
      if (!fault.endsWith("before") && (key === undefined || !effects.includes(key)))
        effects.push(key ?? "no key");
      spoil(fault, request, response);
    });
  });
  return { ...(await listen(server)), effects, seen };
}

function spoil(fault: Fault, request: IncomingMessage, response: ServerResponse): void {
  switch (fault) {
    case "drop before":
    case "drop after":
      return void request.socket.destroy();
    case "reset after":
      response.writeHead(201, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"success":true,', () => request.socket.resetAndDestroy());
      return;
    case "slow after":
      return;
    case "500 after":
      return refuse(response, 500, "SYS_001");
    case "400 before":
      return refuse(response, 400, "REQ_001");
    case "503 before":
      return refuse(response, 503, "SYS_002", { "retry-after": "1" });
    case "429 before":
      return refuse(response, 429, "RATE_001", { "retry-after": "1" });
    case "redirect before":
      return void response.writeHead(307, { location: "/elsewhere" }).end();
    case "502 page after":
      return void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    case "none":
      return answer(response, 201, { success: true, data: DONE, error: null });
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  answer(
    response,
    status,
    { success: false, data: null, error: { code, message: "No.", details: null } },
    headers,
  );
}

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const around = { requestId: "req_1", timestamp: new Date().toISOString() };
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ ...body, ...around }));
}
