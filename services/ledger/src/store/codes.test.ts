import * as contract from "@wonrail/proto/ledger/v1/intents";
import { accountTypes, intentKinds, transactionTypes } from "./codes";

/** The names of a contract's enum, except the two that no row has. */
function namesOf<Name extends string>(contractEnum: Record<Name, string>) {
  return Object.keys(contractEnum).filter((name) => !/^UN(SPECIFIED|RECOGNIZED)$/.test(name)) as Exclude<
    Name,
    "UNSPECIFIED" | "UNRECOGNIZED"
  >[];
}

test("the tables store the contract's numbers", () => {
  const { AccountType, IntentKind, TransactionType } = contract;
  for (const type of namesOf(TransactionType))
    expect(transactionTypes.toCode(type)).toBe(contract.transactionTypeToNumber(TransactionType[type]));
  for (const type of namesOf(AccountType))
    expect(accountTypes.toCode(type)).toBe(contract.accountTypeToNumber(AccountType[type]));
  for (const name of namesOf(IntentKind)) {
    const kind = intentKinds.fromCode(contract.intentKindToNumber(IntentKind[name]));
    expect(kind.replace(/[A-Z]/g, "_$&").toUpperCase()).toBe(name);
  }
});
