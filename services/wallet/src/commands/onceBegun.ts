import { perhapsDone } from "@wonrail/kit/contract/errors";

/**
 * For what comes after a request has written something down: a job goes on with it, or nothing has to. SYS_002 would promise that nothing was
 * done, and the gateway would give the plan's unit back; the outcome is unknown instead.
 */
export async function onceBegun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw perhapsDone(error);
  }
}
