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

/** Scripts branch on it. */
export function exitCodeOf(error) {
  if (error instanceof UsageError || error instanceof ConfigurationError) return 2;
  if (error instanceof WaitTimeoutError) return 4;
  if (error instanceof ConnectionError || error instanceof UnavailableError) return 3;
  if (error instanceof AbortedError) return 130;
  return 1;
}

/** What a person, or with --json a program, is told. */
export function describe(error) {
  if (error instanceof ServiceError) return error.toJSON();
  // The chain's errors are long objects; their first sentence says it.
  return { name: error.name, message: error.shortMessage ?? error.message };
}
