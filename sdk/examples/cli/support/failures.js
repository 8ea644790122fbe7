import {
  AbortedError,
  ConfigurationError,
  ConnectionError,
  ServiceError,
  UnavailableError,
  WaitTimeoutError,
} from "@wonrail/sdk";

/** An argument or a setting is wrong. */
export class UsageError extends Error {
  name = "UsageError";
}

/** Money has moved or may have moved, and a later step failed. `left` holds the facts for continuing. */
export class BegunError extends Error {
  name = "BegunError";

  constructor(left, cause) {
    super(cause.message, { cause });
    this.left = left;
  }
}

/** The chain's node refused a transaction: no money has moved. */
export class NotTakenError extends Error {
  name = "NotTakenError";

  constructor(reason) {
    super(`The node refused the transaction, nothing was sent: ${reason}`);
  }
}

/** The chain's node did not answer before anything was sent: no money has moved. */
export class NotReachedError extends Error {
  name = "NotReachedError";

  constructor(cause) {
    const reason = cause.shortMessage || cause.message || cause.code;
    super(`The chain's node did not answer, nothing was sent: ${reason}`, { cause });
  }
}

// Codes of ethers. Codes of Node begin with E, such as ECONNREFUSED.
const UNANSWERED = /^(E[A-Z]+|NETWORK_ERROR|SERVER_ERROR|TIMEOUT)$/;

/** Runs questions to the chain's node before money moves. */
export async function beforeMoney(work) {
  try {
    return await work();
  } catch (error) {
    throw UNANSWERED.test(error.code) ? new NotReachedError(error) : error;
  }
}

/** Runs the step that moves money, and the steps after it. */
export async function afterMoney(left, work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WaitTimeoutError || error instanceof NotTakenError) throw error;
    throw new BegunError(left, error);
  }
}

/** Exit code for scripts. 5 comes before 3: a repetition after 5 may pay twice, after 3 and 1 it cannot. */
export function exitCodeOf(error) {
  if (error instanceof UsageError || error instanceof ConfigurationError) return 2;
  if (error instanceof WaitTimeoutError) return 4;
  if (error instanceof BegunError || error.outcomeUnknown) return 5;
  if (error instanceof ConnectionError || error instanceof UnavailableError) return 3;
  if (error instanceof NotReachedError) return 3;
  if (error instanceof AbortedError) return 130;
  return 1;
}

/** Describes an error for people, or with --json for programs. */
export function describe(error) {
  if (error instanceof BegunError) return { ...describe(error.cause), ...error.left, outcomeUnknown: true };
  if (error instanceof ServiceError) return error.toJSON();
  // Errors of ethers are long objects. Their short message is enough.
  return { name: error.name, message: error.shortMessage ?? error.message };
}
