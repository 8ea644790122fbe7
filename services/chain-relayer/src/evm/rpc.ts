import { performance } from "node:perf_hooks";
import { type Histogram } from "@wonrail/kit/metrics";

/**
 * One JSON-RPC endpoint. Every call has a time and a size limit; an answer that cannot be parsed
 * is an error.
 */
export interface Rpc {
  readonly name: string;
  call<T>(method: string, params: unknown[]): Promise<T>;
  /** Many calls in one HTTP request; answers in the order of the calls. */
  batch<T>(calls: { method: string; params: unknown[] }[]): Promise<T[]>;
}

/** The node understood the request and refused it. */
export class RpcRefusal extends Error {
  override readonly name = "RpcRefusal";

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** The node did not answer in JSON-RPC. The request may have been executed. */
export class RpcUnanswered extends Error {
  override readonly name = "RpcUnanswered";
}

/** The answer is larger than the limit. */
class RpcResponseTooLarge extends RpcUnanswered {}

/** The node was waited for in vain, for as long as an answer may take. */
export class RpcTimeout extends RpcUnanswered {}

/** The node works but lacks the requested block. */
export class RpcMissingBlock extends RpcUnanswered {}

export interface RpcOptions {
  url: string;
  timeoutMs: number;
  maxResponseBytes: number;
  duration: Histogram<"method">;
}

interface Answer {
  /** Null in a refusal of a batch as a whole. */
  id: number | null;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export function openRpc({ url, timeoutMs, maxResponseBytes, duration }: RpcOptions): Rpc {
  let lastId = 0;
  const { name, address, headers } = placeOf(url);

  async function exchange(body: unknown): Promise<unknown> {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(address, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: deadline,
        redirect: "error",
      });
      const text = await readText(response, maxResponseBytes);
      if (text === null)
        throw new RpcResponseTooLarge(
          `${name} answered with more than the ${maxResponseBytes} bytes that are accepted`,
        );
      if (!response.ok) throw new RpcUnanswered(`${name} answered HTTP ${response.status}`);
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof RpcUnanswered) throw error;
      if (deadline.aborted)
        throw new RpcTimeout(`${name} gave no answer within ${timeoutMs} ms`, { cause: error });
      const code = codeOf(error);
      throw new RpcUnanswered(`${name} gave no answer${code ? `: ${code}` : " that can be read"}`, {
        cause: error,
      });
    }
  }

  async function send(calls: { method: string; params: unknown[] }[]): Promise<unknown[]> {
    const requests = calls.map(({ method, params }) => ({
      jsonrpc: "2.0",
      id: (lastId += 1),
      method,
      params,
    }));
    const startMs = performance.now();
    const single = requests.length === 1;
    const answered = await exchange(single ? requests[0] : requests);
    duration.observe({ method: calls[0]!.method }, (performance.now() - startMs) / 1000);
    const given = (Array.isArray(answered) ? answered : [answered]).filter(isAnswer);
    const refusal = given.find(({ id, error }) => id === null && error)?.error;
    if (refusal && isResponseTooLarge(refusalOf(refusal))) throw refusalOf(refusal);
    const answers = new Map(given.map((answer) => [answer.id, answer]));
    return requests.map(({ id }) => resultOf(answers.get(id), name));
  }

  return {
    name,
    async call<T>(method: string, params: unknown[]) {
      const [result] = await send([{ method, params }]);
      return result as T;
    },
    async batch<T>(calls: { method: string; params: unknown[] }[]) {
      return calls.length === 0 ? [] : ((await send(calls)) as T[]);
    },
  };
}

/** fetch refuses URLs with credentials. The header keeps them out of errors and logs. */
function placeOf(url: string): { name: string; address: string; headers: Record<string, string> } {
  const place = new URL(url);
  const { host: name, username, password } = place;
  if (username === "" && password === "") return { name, address: place.href, headers: {} };
  place.username = "";
  place.password = "";
  const credential = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
  return { name, address: place.href, headers: { authorization: `Basic ${credential}` } };
}

/** Invalid percent-encoding is kept as literal text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Reason of a failed connection, from the cause of fetch's error: ECONNREFUSED, ENOTFOUND, a TLS
 * code.
 */
function codeOf(error: unknown): string | undefined {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** The words of geth, erigon, reth, nethermind and besu for a batch or answer that is too large. */
const TOO_MUCH = /response.*too (large|big)|batch.*(too (large|big)|exceed)/i;

/** Whether fewer calls per request may succeed: the answer was too large for us or for the node. */
export function isResponseTooLarge(error: unknown): boolean {
  if (error instanceof RpcResponseTooLarge) return true;
  return error instanceof RpcRefusal && TOO_MUCH.test(error.message);
}

function isAnswer(value: unknown): value is Answer {
  if (typeof value !== "object" || value === null) return false;
  const { id } = value as Answer;
  return id === null || typeof id === "number";
}

function refusalOf({ code, message, data }: NonNullable<Answer["error"]>): RpcRefusal {
  return new RpcRefusal(code, String(message), data);
}

function resultOf(answer: Answer | undefined, name: string): unknown {
  if (!answer) throw new RpcUnanswered(`${name} left a call unanswered`);
  if (answer.error) throw refusalOf(answer.error);
  if (!("result" in answer)) throw new RpcUnanswered(`${name} gave neither a result nor an error`);
  return answer.result;
}

/** Returns null when the text is longer. */
async function readText(response: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > maxBytes) return null;
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}
