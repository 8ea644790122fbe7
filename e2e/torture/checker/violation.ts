/** A broken promise of the product. */
export interface Violation {
  /** The check that found it. */
  check: string;
  /** The organisation's code. */
  organisation: string;
  message: string;
  /** Operations of the history that show it. */
  operations: number[];
}
