import { DomainError, type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type Won } from "@wonrail/kit/contract/money";
import {
  MAX_MEMO_CHARACTERS,
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
  type Notes,
} from "@wonrail/kit/contract/notes";

const MIN_CHARGE_WON = 1_000n;
const MIN_PAYMENT_WON = 100n;

export function checkCharge(amountWon: Won): void {
  if (amountWon < MIN_CHARGE_WON) throw belowMinimum("CHG_001", MIN_CHARGE_WON);
}

export function checkPayment(amountWon: Won): void {
  if (amountWon < MIN_PAYMENT_WON) throw belowMinimum("PAY_002", MIN_PAYMENT_WON);
}

export function checkPositive(amountWon: Won, path: string): void {
  if (amountWon <= 0n) throw invalidRequest([{ path, message: "must be a positive integer" }]);
}

/** Counts characters as people do: an emoji is one. */
export function checkNotes({ memo, reference, metadata }: Notes): void {
  const problems = [
    ...tooLong("memo", memo, MAX_MEMO_CHARACTERS),
    ...tooLong("reference", reference, MAX_REFERENCE_CHARACTERS),
    ...metadataProblems(metadata),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
}

/** An id of the wrong form is answered like an id that does not exist. */
export function checkChargeId(chargeId: string): void {
  if (!isId("chg", chargeId)) throw new DomainError("CHG_002");
}

export function checkPaymentId(paymentId: string): void {
  if (!isId("pay", paymentId)) throw new DomainError("PAY_004");
}

export function checkWalletId(walletId: string): void {
  if (!isId("wal", walletId)) throw new DomainError("WAL_002", { walletId });
}

function metadataProblems(metadata: Record<string, string>): FieldProblem[] {
  const pairs = Object.entries(metadata);
  const tooMany = { path: "metadata", message: `must have at most ${MAX_METADATA_PAIRS} pairs` };
  return [
    ...(pairs.length > MAX_METADATA_PAIRS ? [tooMany] : []),
    ...pairs.flatMap(([key, value]) => {
      const characters = [...key];
      const path = `metadata.${characters.slice(0, MAX_METADATA_KEY_CHARACTERS).join("")}`;
      if (characters.length < 1 || characters.length > MAX_METADATA_KEY_CHARACTERS)
        return [{ path, message: `the key must have 1 to ${MAX_METADATA_KEY_CHARACTERS} characters` }];
      return tooLong(path, value, MAX_METADATA_VALUE_CHARACTERS);
    }),
  ];
}

function tooLong(path: string, text: string | undefined, maxCharacters: number): FieldProblem[] {
  if (text === undefined || [...text].length <= maxCharacters) return [];
  return [{ path, message: `must have at most ${maxCharacters} characters` }];
}

function belowMinimum(code: "CHG_001" | "PAY_002", minimumWon: bigint): DomainError {
  return new DomainError(code, { fields: [{ path: "amount", message: `must be at least ${minimumWon}` }] });
}
