import { seeded } from "@wonrail/kit/testing/random";
import { type Stack } from "@wonrail/local/stackFile";
import { checkAnswer, ContractViolation } from "../support/contract";
import { newOrganisation } from "../support/operators";
import { type Estate, inParallel } from "./estate";
import { addFinding, countAnswer, newTally, type Tally } from "./finding";
import { type Operation, readOperations } from "./openapi";
import { makeRestCase, type Named, type RestCase } from "./restCases";

export interface RunOptions {
  stack: Stack;
  estates: readonly [Estate, Estate];
  cases: number;
  seed: number;
  /** No case begins after this time. */
  endsAtMs: number;
  report: (line: string) => void;
}

const AT_ONCE = 24;
const ANSWER_MS = 60_000;
const REPORT_EVERY = 5_000;
/** These end the caller's keys or move its clock, so another organisation makes them. */
const ENDS_KEYS =
  /^(DELETE \/api\/wallet-auth|POST \/api\/(wallet-auth\/(refresh|rotate)|sandbox\/(keys|clocks)))/;
/** An organisation without traffic makes webhooks, because each gets every event. */
const CREATES_WEBHOOK = "POST /api/webhooks";

/** Sends requests made from the OpenAPI document with the keys of two organisations. */
export async function runRest(options: RunOptions): Promise<Tally> {
  const { stack, estates, cases, seed, endsAtMs, report } = options;
  const operations = readOperations();
  const tally = newTally();
  const short = await openShortLived(stack);
  const send = async (index: number): Promise<void> => {
    if (Date.now() > endsAtMs) return;
    const random = seeded(seed * 1_000_003 + index);
    const operation = operations[index % operations.length]!;
    const place = random() < 0.5 ? 0 : 1;
    const named = namesOf(estates[place], estates[1 - place]!);
    const made = makeRestCase(random, operation, named);
    const key = needsShortLived(operation) ? short.key() : estates[place].apiKey;
    const status = await judge(tally, stack.gatewayUrl, key, withoutLoad(made));
    if (status === 401) await short.renew(key);
    if (tally.cases % REPORT_EVERY === 0) report(`REST: ${tally.cases} cases`);
  };
  await inParallel(cases, send, AT_ONCE);
  return tally;
}

function namesOf(own: Estate, other: Estate): Named {
  return { own: own.ids, foreign: other.ids, addresses: [...own.addresses, ...other.addresses] };
}

function needsShortLived({ method, path }: Operation): boolean {
  const name = `${method} ${path}`;
  return ENDS_KEYS.test(name) || name === CREATES_WEBHOOK;
}

/** The list of events can wait for 20 seconds, and enabled webhooks would get every event. */
function withoutLoad({ path, body, ...rest }: RestCase): RestCase {
  const isWebhook = path.startsWith("/api/webhooks/");
  return {
    ...rest,
    path: path.replace(/\bwait=\d+/, "wait=1"),
    ...(body !== undefined && { body: isWebhook ? body.replaceAll('"ENABLED"', '"DISABLED"') : body }),
  };
}

/** Counts the answer and returns its status. Undefined: no answer came. */
async function judge(
  tally: Tally,
  gatewayUrl: string,
  key: string,
  { method, path, headers, body }: RestCase,
): Promise<number | undefined> {
  const url = new URL(gatewayUrl + path);
  const request = `${method} ${path} ${JSON.stringify(headers)} ${body ?? ""}`;
  try {
    const response = await fetch(url, {
      ...{ method, headers: { "X-API-Key": key, ...headers } },
      ...(body !== undefined && { body }),
      ...{ signal: AbortSignal.timeout(ANSWER_MS), redirect: "manual" as const },
    });
    const text = await response.text();
    countAnswer(tally, String(response.status));
    const problem = problemOf(method, url, response, text);
    if (problem) addFinding(tally, problem.kind, { problem: problem.text, request });
    return response.status;
  } catch (error) {
    countAnswer(tally, "no answer");
    addFinding(tally, "serverErrors", { problem: describeError(error), request });
    return undefined;
  }
}

interface Problem {
  kind: "serverErrors" | "undocumented";
  text: string;
}

function problemOf(method: string, url: URL, response: Response, text: string): Problem | undefined {
  const { status } = response;
  if (status >= 500) return { kind: "serverErrors", text: `${status} ${text.slice(0, 300)}` };
  if (status === 200 && !isJson(response)) return undefined;
  try {
    checkAnswer(method, url.pathname + url.search, status, JSON.parse(text));
    return undefined;
  } catch (error) {
    if (error instanceof ContractViolation || error instanceof SyntaxError)
      return { kind: "undocumented", text: error.message };
    throw error;
  }
}

/** Reports come as CSV and XML, too. */
function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("application/json") ?? false;
}

function describeError(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

interface ShortLived {
  key(): string;
  /** Replaces the organisation of an ended key. Calls with the ended key go on meanwhile. */
  renew(endedKey: string): Promise<void>;
}

/** An organisation whose keys may end. */
async function openShortLived(stack: Stack): Promise<ShortLived> {
  let key = (await newOrganisation(stack)).apiKey;
  let isRenewing = false;
  return {
    key: () => key,
    async renew(endedKey) {
      if (endedKey !== key || isRenewing) return;
      isRenewing = true;
      key = (await newOrganisation(stack)).apiKey;
      isRenewing = false;
    },
  };
}
