import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type Api, type Json } from "../support/api";
import { ContractViolation } from "../support/contract";

const PAUSE_MS = 250;
const MAX_TRIES = 360;

/** Sends the same request until its outcome is known, as a client does after a lost answer. That has to be within minutes, on the slowest machine. */
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

/** A connection that was lost has no answer; one that the document does not promise is a failure. */
function unlessViolated(error: unknown): null {
  if (error instanceof ContractViolation) throw error;
  return null;
}
