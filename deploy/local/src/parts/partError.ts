/** A failed part of the stack: event, cause and remedy. */
export class PartError extends Error {
  override readonly name = "PartError";

  constructor(
    readonly what: string,
    readonly why: string,
    readonly next: string,
  ) {
    super(`${what}: ${why}\n  Next: ${next}`);
  }
}
