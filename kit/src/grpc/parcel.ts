/**
 * Carries something to whoever takes it out first. grpc-js and Node's http2 keep their calls in Sets and Maps, and V8 keeps what has been in those for long
 * after it has ended (see bag.ts): what a call carries must not stay in it.
 */
export class Parcel<T> {
  #content: T | undefined;

  constructor(content: T) {
    this.#content = content;
  }

  /** Undefined when it is taken already. */
  take(): T | undefined {
    const content = this.#content;
    this.#content = undefined;
    return content;
  }
}
