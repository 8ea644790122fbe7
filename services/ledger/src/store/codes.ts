import { assert } from "@wonrail/kit/contract/errors";
import { TRANSACTION_TYPES } from "../domain/typeBits";
import type { AccountType, IntentKind, TransactionType } from "../domain/types";

/** The small numbers that stand for words in the tables: those of the contract's enums. Only ever appended to. */
const ACCOUNT_TYPES: readonly AccountType[] = [
  "NORMAL",
  "INCENTIVE",
  "GOVERNMENT",
  "ORG_ISSUANCE",
  "ORG_INCENTIVE",
  "ORG_EXTERNAL",
];
const INTENT_KINDS: readonly IntentKind[] = [
  "openAccount",
  "closeAccount",
  "charge",
  "cancelCharge",
  "refund",
  "transfer",
  "payment",
  "cancelPayment",
  "accrue",
  "placeHold",
  "postHold",
  "voidHold",
  "creditExternal",
  "reopenAccount",
];

export const accountTypes = codes(ACCOUNT_TYPES);
export const intentKinds = codes(INTENT_KINDS);
export const transactionTypes = codes<TransactionType>(TRANSACTION_TYPES);

interface Codes<T> {
  toCode(word: T): number;
  fromCode(code: number): T;
}

function codes<T extends string>(words: readonly T[]): Codes<T> {
  const byWord = new Map(words.map((word, index) => [word, index + 1]));
  return {
    toCode: (word) => byWord.get(word)!,
    fromCode(code) {
      const word = words[code - 1];
      assert(word !== undefined, `${code} is not a code that this release knows`);
      return word;
    },
  };
}
