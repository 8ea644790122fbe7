/**
 * Carries a value to its first taker. grpc-js and Node's http2 keep calls in Sets and Maps, whose
 * old tables keep them alive for long (see bag.ts), so a call must not hold the value.
 */
export class Parcel<T> {
  #content: T | undefined;

  constructor(content: T) {
    this.#content = content;
  }

  /** Returns undefined when it was taken. */
  take(): T | undefined {
    const content = this.#content;
    this.#content = undefined;
    return content;
  }
}
