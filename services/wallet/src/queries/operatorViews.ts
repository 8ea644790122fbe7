import { type Database, type Queryable } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Won } from "@wonrail/kit/contract/money";
import { normalizeUserId } from "@wonrail/kit/contract/userId";
import { type SearchHit } from "@wonrail/proto/common/v1/admin";
import { type LedgerClient } from "../commands/openAccount";
import { walletScope } from "../domain/signingPolicy";
import { type WalletWithBalance } from "../domain/wallet";
import {
  findInternals,
  findWallets,
  listRefusals,
  listSigned,
  readVelocity,
  type Refusal,
  type Signing,
  type WalletInternals,
} from "../store/searches";
import { findWallet } from "../store/wallets";
import { withBalances } from "./getWallet";

const MOST_HITS = 20;

/** Finds wallets of all organisations by id, address or user. */
export async function search({ db }: { db: Queryable }, text: string): Promise<SearchHit[]> {
  if (text === "") return [];
  const found = await findWallets(db, normalizeUserId(text), MOST_HITS);
  return found.map(({ walletId, orgId, walletType, userId, address, status }) => ({
    ...{ kind: "wallet", id: walletId, orgId },
    title: `${walletType} wallet of ${userId}, ${status}, ${address}`,
  }));
}

export interface WalletDetails extends WalletInternals {
  wallet: WalletWithBalance;
  /** Signed in this hour. */
  signedWon: Won;
}

/** A wallet of any organisation, with the parts that only operators see. */
export async function getWalletDetails(
  { db, ledger }: { db: Database; ledger: LedgerClient },
  walletId: string,
): Promise<WalletDetails> {
  const internals = await findInternals(db, walletId);
  const wallet = internals && (await findWallet(db, internals.orgId, walletId));
  if (!internals || !wallet) throw new DomainError("WAL_002", { walletId });
  const [withBalance] = await withBalances(ledger, [wallet]);
  const signedWon = await readVelocity(db, walletScope({ fromWalletId: walletId }));
  return { ...internals, wallet: withBalance!, signedWon };
}

/** Custody's signatures and refusals for an entry or hold. */
export async function listSignings(
  { db }: { db: Queryable },
  { orgId, ledgerRef }: { orgId: string; ledgerRef: string },
): Promise<{ signings: Signing[]; refusals: Refusal[] }> {
  return {
    signings: await listSigned(db, orgId, ledgerRef),
    refusals: await listRefusals(db, orgId, ledgerRef),
  };
}
