import { assert } from "@wonrail/kit/contract/errors";
import { TRANSACTION_TYPES } from "../domain/typeBits";
import type { AccountType, Freeze } from "../domain/accountTypes";
import type { IntentKind } from "../domain/intents";
import type { TransactionType } from "../domain/types";

/** The tables' numbers for enum values, equal to the contract's. Only append to them. */
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
  "freezeAccount",
  "placeHold",
  "postHold",
  "voidHold",
  "creditExternal",
  "reopenAccount",
];

/** Stored from 0: most accounts are not frozen. */
const FREEZES: readonly Freeze[] = ["NONE", "OUTGOING", "ALL"];

export const accountTypes = codes(ACCOUNT_TYPES);
export const freezes = codes(FREEZES, 0);
export const intentKinds = codes(INTENT_KINDS);
export const transactionTypes = codes<TransactionType>(TRANSACTION_TYPES);

interface Codes<T> {
  toCode(word: T): number;
  fromCode(code: number): T;
}

function codes<T extends string>(words: readonly T[], first = 1): Codes<T> {
  const byWord = new Map(words.map((word, index) => [word, index + first]));
  return {
    toCode: (word) => byWord.get(word)!,
    fromCode(code) {
      const word = words[code - first];
      assert(word !== undefined, `${code} is not a code that this release knows`);
      return word;
    },
  };
}
