import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type Api, type CallOptions, type Json } from "../support/api";
import { ContractViolation } from "../support/contract";

const PAUSE_MS = 250;
const MAX_TRIES = 360;

/**
 * Repeats a request until its outcome is known, as a client does after a lost answer. Must succeed
 * within minutes on the slowest machine.
 */
export async function settle(
  api: Api,
  path: string,
  body: Json,
  idempotencyKey: string,
): Promise<Answer<Json>> {
  for (let tries = 0; ; tries += 1) {
    const answer = await api.call("POST", path, body, { idempotencyKey }).catch(unlessViolated);
    if (answer && answer.status < 500 && answer.status !== 409 && answer.status !== 429) return answer;
    if (tries > MAX_TRIES) throw new Error(`${path} has no outcome: ${JSON.stringify(answer?.body)}`);
    await sleep(PAUSE_MS);
  }
}

/**
 * Repeats a request while the answer is SYS_002, which a slow machine may cause. The test judges
 * every other answer.
 */
export async function heard(
  api: Api,
  path: string,
  body: Json,
  options: CallOptions = {},
): Promise<Answer<Json>> {
  for (let tries = 0; ; tries += 1) {
    const answer = await api.call("POST", path, body, options);
    if (answer.body.error?.code !== "SYS_002" || tries > MAX_TRIES) return answer;
    await sleep(PAUSE_MS);
  }
}

/** Returns null for a lost connection. Rethrows when the document does not allow the answer. */
function unlessViolated(error: unknown): null {
  if (error instanceof ContractViolation) throw error;
  return null;
}
