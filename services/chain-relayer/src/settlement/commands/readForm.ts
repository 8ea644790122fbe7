import { readAddress } from "@wonrail/kit/contract/address";
import { isId } from "@wonrail/kit/contract/ids";
import { MAX_WON, type Won, won } from "@wonrail/kit/contract/money";

// What has not its form would be refused later, by custody, the ledger or a node, and with it everybody else's that is asked for in the same call: so it
// is refused when it comes, and becomes a dead letter.

const AMOUNT = /^-?[0-9]{1,16}$/;

export function readOrganisation(orgId: string): string {
  if (!isId("org", orgId)) throw new Error(`${shown(orgId)} is not an organisation's id`);
  return orgId;
}

export function readWallet(walletId: string): string {
  if (!isId("wal", walletId)) throw new Error(`${shown(walletId)} is not a wallet's id`);
  return walletId;
}

/** As it was written, when it is one. */
export function readAccount(address: string): string {
  if (readAddress(address) === null) throw new Error(`${shown(address)} is not an address`);
  return address;
}

/** What moves on one account: less than nothing where it leaves. */
export function readMoved(amountWon: string): Won {
  if (!AMOUNT.test(amountWon)) throw new Error(`${shown(amountWon)} is not an amount`);
  return won(BigInt(amountWon));
}

/** What one authorization may move. */
export function assertAmount(amountWon: Won): Won {
  if (amountWon < 1n || amountWon > MAX_WON) throw new Error(`nothing of ${amountWon} KRW is settled`);
  return amountWon;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
