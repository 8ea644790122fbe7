/** A part of the stack could not do its work: what happened, why, and what the reader can do about it. */
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
