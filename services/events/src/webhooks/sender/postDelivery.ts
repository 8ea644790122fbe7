import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { type AddressRules, isAllowedAddress, urlProblem } from "./addressRules";
import { type ResolveHost } from "./resolveHost";

/** The outcome of an attempt. */
export interface AttemptOutcome {
  isDelivered: boolean;
  /** The endpoint says that it is gone for good. */
  isGone: boolean;
  /** Method, path and headers of the request; null when none was sent. */
  requestHead: string | null;
  /** Null when no answer came. */
  statusCode: number | null;
  /** Status, headers and the beginning of the body. */
  responseHead: string | null;
  error: string | null;
  durationMs: number;
}

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface SenderOptions extends AddressRules {
  resolve: ResolveHost;
  timeoutMs?: number;
}

export interface Sender {
  post(post: Post): Promise<AttemptOutcome>;
  close(): void;
}

const USER_AGENT = "wonrail-webhooks/1";
const TIMEOUT_MS = 10_000;
/** An answer's body is read up to here, and then the connection is closed. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const HEAD_CHARACTERS = 2_000;
const BODY_CHARACTERS = 1_000;
/** An idle connection is closed before most servers close it, since a delivery on a closing one fails. */
const IDLE_SOCKET_MS = 4_000;

/**
 * Sends deliveries. Each new connection resolves the host once, refuses it when one of its addresses is not allowed, and
 * connects to the checked addresses only. A kept connection stays at the address that was checked. The dispatcher
 * limits the connections by endpoint. A limit by host would let an endpoint that hangs block others of the same host.
 */
export function createSender({ timeoutMs = TIMEOUT_MS, resolve, ...rules }: SenderOptions): Sender {
  const options = { keepAlive: true, timeout: IDLE_SOCKET_MS, lookup: checkedLookup(rules, resolve) };
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };

  function open({ target, headers }: Request, signal: AbortSignal): ClientRequest {
    const options = { method: "POST", headers, signal };
    return target.protocol === "http:"
      ? httpRequest(target, { ...options, agent: agents["http:"] })
      : httpsRequest(target, { ...options, agent: agents["https:"] });
  }

  return {
    async post(post) {
      const startedMs = performance.now();
      const durationMs = () => Math.round(performance.now() - startedMs);
      const signal = AbortSignal.timeout(timeoutMs);
      let requestHead: string | null = null;
      try {
        const request = requestOf(post, rules);
        requestHead = headOf(request);
        const answer = await answerOf(open(request, signal), post.body);
        return { ...answer, requestHead, durationMs: durationMs() };
      } catch (error) {
        const text = signal.aborted ? `no answer within ${timeoutMs} ms` : (error as Error).message;
        const none = { isDelivered: false, isGone: false, statusCode: null, responseHead: null };
        return { ...none, requestHead, error: text.slice(0, BODY_CHARACTERS), durationMs: durationMs() };
      }
    },
    close() {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

interface Request {
  target: URL;
  headers: Record<string, string>;
}

/** The URL was checked when it was set. A setting may have changed since. */
function requestOf({ url, headers, body }: Post, rules: AddressRules): Request {
  const problem = urlProblem(url, rules);
  if (problem !== undefined) throw new Error(`the URL is not allowed: ${problem}`);
  const target = new URL(url);
  const length = String(Buffer.byteLength(body));
  const own = { "content-type": "application/json", "content-length": length, "user-agent": USER_AGENT };
  return { target, headers: { host: target.host, ...own, ...headers } };
}

function headOf({ target, headers }: Request): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${target.pathname}${target.search}`, ...lines].join("\n");
}

type Answer = Omit<AttemptOutcome, "durationMs" | "requestHead">;

function answerOf(request: ClientRequest, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      readUpTo(response, MAX_RESPONSE_BYTES).then((text) => resolve(outcomeOf(response, text)), reject);
    });
    request.end(body);
  });
}

/** Redirects are not followed: 3xx is a failure like any other status outside of 2xx. */
function outcomeOf(response: IncomingMessage, text: string): Answer {
  const statusCode = response.statusCode!;
  const isDelivered = statusCode >= 200 && statusCode < 300;
  const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}`);
  const head = [`HTTP ${statusCode}`, ...lines].join("\n").slice(0, HEAD_CHARACTERS);
  const responseHead = storable(`${head}\n\n${text.slice(0, BODY_CHARACTERS)}`);
  const error = isDelivered ? null : `the endpoint answered ${statusCode}`;
  return { isDelivered, isGone: statusCode === 410, statusCode, responseHead, error };
}

/** The status decides. A body that is too long is cut and its connection closed. */
async function readUpTo(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Postgres cannot store NUL in text. */
function storable(text: string): string {
  return text.replaceAll("\0", "�");
}

/** Node connects to the addresses that this function gives, and to no other. */
function checkedLookup(rules: AddressRules, resolve: ResolveHost): LookupFunction {
  return (hostname, { all }, callback) => {
    checkedAddresses(hostname, rules, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, addresses);
        else callback(null, first!.address, first!.family);
      },
      (error: Error) => callback(error, []),
    );
  };
}

async function checkedAddresses(hostname: string, rules: AddressRules, resolve: ResolveHost) {
  const addresses = await resolve(hostname);
  if (addresses.length === 0) throw new Error(`${hostname} has no address`);
  if (!addresses.every((address) => isAllowedAddress(address, rules)))
    throw new Error(`${hostname} leads to an address that is not allowed`);
  return addresses.map((address) => ({ address, family: isIP(address) }));
}
