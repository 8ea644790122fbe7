import { setTimeout as sleep } from "node:timers/promises";

const MAX_ATTEMPTS = 4;
const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 1000;

export interface RetryOptions {
  deadlineMs: number;
  budget: RetryBudget;
  isWorthRetrying: (error: unknown) => boolean;
  /** Waits for a missing connection. Returns true after a reconnect. */
  reconnected: () => Promise<boolean>;
  random?: () => number;
}

/** Retries a repeatable call a few times, with growing pauses, while its caller waits. */
export async function withRetry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { deadlineMs, budget, isWorthRetrying, reconnected, random = Math.random } = options;
  budget.earn();
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !isWorthRetrying(error)) throw error;
      const delayMs = delayBefore(attempts, random);
      if (Date.now() + delayMs >= deadlineMs) throw error;
      // An attempt without a connection burdened no server, so its repetition costs no budget.
      if (!(await reconnected()) && !budget.spend()) throw error;
      await sleep(delayMs);
      if (Date.now() >= deadlineMs) throw error;
    }
  }
}

/** Half fixed, half random, doubling: callers that failed together do not retry together. */
export function delayBefore(attempts: number, random: () => number): number {
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1));
  return delayMs / 2 + (delayMs / 2) * random();
}

/**
 * Limits retries to a tenth of the calls after the first few, so that they cannot overload a
 * recovering dependency.
 */
export class RetryBudget {
  private static readonly MAX_TOKENS = 20;
  private static readonly TOKENS_PER_CALL = 0.1;
  private tokens = RetryBudget.MAX_TOKENS;

  earn(): void {
    this.tokens = Math.min(RetryBudget.MAX_TOKENS, this.tokens + RetryBudget.TOKENS_PER_CALL);
  }

  spend(): boolean {
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
