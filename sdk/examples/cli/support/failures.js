import {
  AbortedError,
  ConfigurationError,
  ConnectionError,
  ServiceError,
  UnavailableError,
  WaitTimeoutError,
} from "@wonrail/sdk";

/** The command was given something that it cannot work with. */
export class UsageError extends Error {
  name = "UsageError";
}

/** Money has moved, or may have, and what follows failed: the whole of it again would move it twice. `left` is with what to go on. */
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

/** The chain's node gave no answer before it was given anything: no money has moved. */
export class NotReachedError extends Error {
  name = "NotReachedError";

  constructor(cause) {
    const reason = cause.shortMessage || cause.message || cause.code;
    super(`The chain's node did not answer, nothing was sent: ${reason}`, { cause });
  }
}

// ethers' words; those of Node begin with E, such as ECONNREFUSED.
const UNANSWERED = /^(E[A-Z]+|NETWORK_ERROR|SERVER_ERROR|TIMEOUT)$/;

/** What the chain's node is asked before money moves. */
export async function beforeMoney(work) {
  try {
    return await work();
  } catch (error) {
    throw UNANSWERED.test(error.code) ? new NotReachedError(error) : error;
  }
}

/** The step that moves money, where its answer can be lost, and what follows it. */
export async function afterMoney(left, work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WaitTimeoutError || error instanceof NotTakenError) throw error;
    throw new BegunError(left, error);
  }
}

/** Scripts branch on it. 5 comes before 3: who begins again at 5 may pay twice, while 3 and 1 did nothing. */
export function exitCodeOf(error) {
  if (error instanceof UsageError || error instanceof ConfigurationError) return 2;
  if (error instanceof WaitTimeoutError) return 4;
  if (error instanceof BegunError || error.outcomeUnknown) return 5;
  if (error instanceof ConnectionError || error instanceof UnavailableError) return 3;
  if (error instanceof NotReachedError) return 3;
  if (error instanceof AbortedError) return 130;
  return 1;
}

/** What a person, or with --json a program, is told. */
export function describe(error) {
  if (error instanceof BegunError) return { ...describe(error.cause), ...error.left, outcomeUnknown: true };
  if (error instanceof ServiceError) return error.toJSON();
  // The chain's errors are long objects; their first sentence says it.
  return { name: error.name, message: error.shortMessage ?? error.message };
}
