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

const TIMEOUT_MS = 10_000;
/** An answer's body is read up to here, and then the connection is closed. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const HEAD_CHARACTERS = 2_000;
const BODY_CHARACTERS = 1_000;
const SOCKETS_PER_HOST = 64;

/**
 * Sends deliveries. Each new connection resolves the host once, refuses it when one of its addresses is not allowed, and
 * connects to the checked addresses only. A kept connection stays at the address that was checked.
 */
export function createSender({ timeoutMs = TIMEOUT_MS, resolve, ...rules }: SenderOptions): Sender {
  const options = { keepAlive: true, maxSockets: SOCKETS_PER_HOST, lookup: checkedLookup(rules, resolve) };
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };

  function open({ url, headers, body }: Post, signal: AbortSignal): ClientRequest {
    // The URL was checked when it was set. A setting may have changed since.
    const problem = urlProblem(url, rules);
    if (problem !== undefined) throw new Error(`the URL is not allowed: ${problem}`);
    const target = new URL(url);
    const isPlain = target.protocol === "http:";
    const length = String(Buffer.byteLength(body));
    const common = {
      method: "POST",
      signal,
      headers: {
        ...headers,
        "content-type": "application/json",
        "content-length": length,
        "user-agent": "wonrail-webhooks/1",
      },
    };
    return isPlain
      ? httpRequest(target, { ...common, agent: agents["http:"] })
      : httpsRequest(target, { ...common, agent: agents["https:"] });
  }

  return {
    async post(post) {
      const startedMs = performance.now();
      const durationMs = () => Math.round(performance.now() - startedMs);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await answerOf(open(post, signal), post.body);
        return { ...answer, durationMs: durationMs() };
      } catch (error) {
        const text = signal.aborted ? `no answer within ${timeoutMs} ms` : (error as Error).message;
        const none = { isDelivered: false, isGone: false, statusCode: null, responseHead: null };
        return { ...none, error: text.slice(0, BODY_CHARACTERS), durationMs: durationMs() };
      }
    },
    close() {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

function answerOf(request: ClientRequest, body: string): Promise<Omit<AttemptOutcome, "durationMs">> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      readUpTo(response, MAX_RESPONSE_BYTES).then((text) => resolve(outcomeOf(response, text)), reject);
    });
    request.end(body);
  });
}

/** Redirects are not followed: 3xx is a failure like any other status outside of 2xx. */
function outcomeOf(response: IncomingMessage, text: string): Omit<AttemptOutcome, "durationMs"> {
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
