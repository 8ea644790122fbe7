import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Launcher } from "./launcherFile";
import type { UnitStatus } from "./process/unit";

const VERBS = ["start", "stop", "restart"] as const;
export type Verb = (typeof VERBS)[number];

/** The requests that the launcher accepts. */
export interface Controls {
  act(verb: Verb, name: string): Promise<void>;
  statuses(): UnitStatus[];
  shutdown(): void;
}

export interface ControlDoor {
  port: number;
  token: string;
  close(): void;
}

/**
 * Listens on the loopback interface, with a token from the launcher's file. A socket file would
 * fail in folders with long names.
 */
export async function openControl(controls: Controls): Promise<ControlDoor> {
  const token = randomBytes(24).toString("base64url");
  const server = createServer((request, response) => {
    answer(controls, token, request).then(
      (body) => send(response, 200, body),
      (error: unknown) =>
        send(response, 400, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  return { port: (server.address() as AddressInfo).port, token, close: () => server.closeAllConnections() };
}

async function answer(controls: Controls, token: string, request: IncomingMessage): Promise<unknown> {
  if (!sameToken(request.headers.authorization, token)) throw new Error("The token is wrong.");
  const [verb, name = ""] = (request.url ?? "").slice(1).split("/");
  if (request.method === "GET" && verb === "status") return controls.statuses();
  if (request.method !== "POST") throw new Error(`There is no ${request.method} ${request.url}.`);
  if (verb === "shutdown") controls.shutdown();
  else await controls.act(parseVerb(verb), decodeURIComponent(name));
  return {};
}

export function parseVerb(text: string | undefined): Verb {
  const verb = VERBS.find((known) => known === text);
  if (!verb) throw new Error(`There is no command "${text}". There are: status, ${VERBS.join(", ")}.`);
  return verb;
}

function sameToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { "content-type": "application/json", connection: "close" })
    .end(JSON.stringify(body));
}

/** The client side: sends a command to a running launcher. */
export async function askLauncher<T>(
  { control }: Launcher,
  method: "GET" | "POST",
  path: string,
  /** Ends the wait. A command may take as long as a start. */
  signal?: AbortSignal,
): Promise<T> {
  if (!control)
    throw new Error("The stack is only just starting and takes no commands yet. Try again in a moment.");
  const response = await fetch(`http://127.0.0.1:${control.port}/${path}`, {
    method,
    headers: { authorization: `Bearer ${control.token}` },
    ...(signal ? { signal } : {}),
  });
  const body = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `The launcher answered ${response.status}.`);
  return body;
}
