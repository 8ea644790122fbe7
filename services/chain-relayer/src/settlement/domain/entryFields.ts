import { readAddress } from "@wonrail/kit/contract/address";
import { isId } from "@wonrail/kit/contract/ids";
import { MAX_WON, type Won, won } from "@wonrail/kit/contract/money";

// A malformed id, address or amount would fail a whole call to custody, the ledger or a node. So it
// is refused when the entry is read.

const AMOUNT = /^-?[0-9]{1,16}$/;

export function readOrganisation(orgId: string): string {
  if (!isId("org", orgId)) throw new Error(`${shown(orgId)} is not an organisation's id`);
  return orgId;
}

export function readWallet(walletId: string): string {
  if (!isId("wal", walletId)) throw new Error(`${shown(walletId)} is not a wallet's id`);
  return walletId;
}

/** Returns an address unchanged. */
export function readAccount(address: string): string {
  if (readAddress(address) === null) throw new Error(`${shown(address)} is not an address`);
  return address;
}

/** Reads the amount of a line: negative where money leaves the account. */
export function readSignedAmount(amountWon: string): Won {
  if (!AMOUNT.test(amountWon)) throw new Error(`${shown(amountWon)} is not an amount`);
  return won(BigInt(amountWon));
}

/** Refuses an amount that no authorization can move. */
export function assertAmount(amountWon: Won): Won {
  if (amountWon < 1n || amountWon > MAX_WON) throw new Error(`nothing of ${amountWon} KRW is settled`);
  return amountWon;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
