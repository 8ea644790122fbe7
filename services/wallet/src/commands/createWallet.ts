import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { checkMetadata, isSameMetadata, type Metadata } from "../domain/metadata";
import { type Wallet, type WalletType } from "../domain/wallet";
import { type Keyring } from "../keys/keyring";
import { findSeed, insertSeed, takeKeyIndex } from "../store/seeds";
import { findUserWallet, insertWallet } from "../store/wallets";
import { withUnknownOutcome } from "./outcomes";
import { type OpenAccountDeps, openAccount } from "./openAccount";

export interface CreateWalletDeps extends OpenAccountDeps {
  db: Database;
  keyring: Keyring;
  newWalletId: () => Id<"wal">;
}

export interface CreateWalletInput {
  orgId: string;
  userId: string;
  walletType: WalletType;
  metadata: Metadata;
}

/**
 * Creates a wallet in three steps: the organisation's seed, the row with its address (OPENING), the
 * ledger's account (ACTIVE). A retry continues at the step that is missing. The next caller takes
 * over a wallet that a crash left OPENING, and the last step stores that caller's metadata. A
 * wallet that its first caller may still be creating keeps the first metadata.
 */
export async function createWallet(
  deps: CreateWalletDeps,
  input: CreateWalletInput,
): Promise<{ wallet: Wallet; existed: boolean }> {
  checkMetadata(input.metadata);
  const { wallet, existed } = await reserveWallet(deps, input);
  if (!existed) return { wallet: await withUnknownOutcome(() => openAccount(deps, wallet)), existed };
  if (wallet.status !== "OPENING") throw hasOne(wallet);
  // The wallet is another request's. This request did nothing, so SYS_002 is true for it, and the
  // plan counts only the first request.
  const opened = await openAccount(deps, { ...wallet, metadata: input.metadata });
  // Another caller created the wallet with different metadata.
  if (!isSameMetadata(opened.metadata, input.metadata)) throw hasOne(wallet);
  return { wallet: opened, existed };
}

/**
 * Finds or creates the user's wallet of this type. SYS_002 stays SYS_002 here: the caller's own
 * operation has not begun, and no plan counts this wallet.
 */
export async function ensureWallet(
  deps: CreateWalletDeps,
  input: Omit<CreateWalletInput, "metadata">,
): Promise<Wallet> {
  const { wallet } = await reserveWallet(deps, { ...input, metadata: {} });
  return wallet.status === "OPENING" ? openAccount(deps, wallet) : wallet;
}

function hasOne({ walletId }: Wallet): DomainError {
  return new DomainError("WAL_001", { walletId });
}

async function reserveWallet(
  deps: CreateWalletDeps,
  input: CreateWalletInput,
): Promise<{ wallet: Wallet; existed: boolean }> {
  const { db, keyring, newWalletId } = deps;
  const { orgId, userId, walletType } = input;
  const existing = await findUserWallet(db, orgId, userId, walletType);
  if (existing) return { wallet: existing, existed: true };

  const seed = await seedOf(deps, orgId);
  const keyIndex = await tx(db, (tx) => takeKeyIndex(tx, orgId));
  const address = await keyring.withSeed(seed, (keys) => keys.address(keyIndex));
  const inserted = await insertWallet(db, { ...input, walletId: newWalletId(), address, keyIndex });
  if (inserted) return { wallet: inserted, existed: false };
  // Another call inserted the wallet after the look-up.
  const first = await findUserWallet(db, orgId, userId, walletType);
  return { wallet: first!, existed: true };
}

async function seedOf({ db, keyring }: CreateWalletDeps, orgId: string) {
  const known = await findSeed(db, orgId);
  if (known) return known;
  await insertSeed(db, await keyring.newSeed(orgId));
  return (await findSeed(db, orgId))!;
}
