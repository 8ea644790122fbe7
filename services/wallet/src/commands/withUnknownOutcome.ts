import { asOutcomeUnknown } from "@wonrail/kit/contract/errors";

/**
 * Runs a step after a request has stored something. SYS_002 would promise that nothing was
 * executed, and the gateway would return the plan's unit. So it becomes SYS_003.
 */
export async function withUnknownOutcome<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asOutcomeUnknown(error);
  }
}
