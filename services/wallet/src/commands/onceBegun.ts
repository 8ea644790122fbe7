import { nothingDone, perhapsDone } from "@wonrail/kit/contract/errors";

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

/**
 * For what is asked about a wallet that another request has begun, whose unit of the plan it is: to ask has done nothing, whatever became of
 * the question, and the gateway gives this request's unit back.
 */
export async function onceAnothers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw nothingDone(error);
  }
}
