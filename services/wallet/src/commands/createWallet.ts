import { type Database, tx } from "@wonrail/kit/db";
import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { checkMetadata, type Metadata } from "../domain/metadata";
import { type Wallet, type WalletType } from "../domain/wallet";
import { type Keyring, type SealedSeed } from "../keys/keyring";
import { type SeedEscrow } from "../keys/seedEscrow";
import { findSeed, insertSeed, reserveKeyIndex } from "../store/seeds";
import { type CreationKey, findUserWallet, findWalletByCreationKey, insertWallet } from "../store/wallets";
import { withUnknownOutcome } from "./withUnknownOutcome";
import { type OpenAccountDeps, openAccount } from "./openAccount";

export interface CreateWalletDeps extends OpenAccountDeps {
  db: Database;
  keyring: Keyring;
  /** Null when seeds are kept in the database alone. */
  escrow: SeedEscrow | null;
  newWalletId: () => Id<"wal">;
}

export interface CreateWalletInput {
  orgId: string;
  userId: string;
  walletType: WalletType;
  metadata: Metadata;
  creation?: CreationKey | undefined;
  /** Creates nothing: returns the wallet that was created under the key, or WAUTH_004. */
  repeatOnly?: boolean | undefined;
}

/**
 * Creates a wallet in three steps: the organisation's seed, the row with its address (OPENING), the
 * ledger's account (ACTIVE). A job, or the next request for this wallet, finishes an interrupted
 * one. Only the request that inserted the row, and replays of its key, get the wallet as their
 * answer.
 */
export async function createWallet(
  deps: CreateWalletDeps,
  input: CreateWalletInput,
): Promise<{ wallet: Wallet; replayed: boolean }> {
  checkMetadata(input.metadata);
  const repeated = await findRepeated(deps.db, input);
  if (repeated) return { wallet: await finish(deps, repeated), replayed: true };
  if (input.repeatOnly) throw new DomainError("WAUTH_004");
  const { wallet, existed } = await reserveWallet(deps, input);
  if (!existed) return { wallet: await withUnknownOutcome(() => openAccount(deps, wallet)), replayed: false };
  // A request with the same key may have written the row in between.
  const first = await findRepeated(deps.db, input);
  if (first) return { wallet: await finish(deps, first), replayed: true };
  await finish(deps, wallet);
  throw new DomainError("WAL_001", { walletId: wallet.walletId });
}

/**
 * Returns the wallet that was created or started under the request's key. REQ_003 when the key
 * belongs to another request.
 */
async function findRepeated(
  db: Database,
  { orgId, creation }: CreateWalletInput,
): Promise<Wallet | undefined> {
  if (!creation) return undefined;
  const found = await findWalletByCreationKey(db, orgId, creation.key);
  if (found && !found.bodyHash.equals(creation.bodyHash)) throw new DomainError("REQ_003");
  return found?.wallet;
}

/** Another request started this wallet, so SYS_002 is true for this one. */
async function finish(deps: CreateWalletDeps, wallet: Wallet): Promise<Wallet> {
  return wallet.status === "OPENING" ? openAccount(deps, wallet) : wallet;
}

/**
 * Returns the user's wallet of this type, and creates a missing one. SYS_002 stays SYS_002: the
 * operation that needs the wallet was not executed, and no plan counts it.
 */
export async function ensureWallet(
  deps: CreateWalletDeps,
  input: Omit<CreateWalletInput, "metadata">,
): Promise<Wallet> {
  const { wallet } = await reserveWallet(deps, { ...input, metadata: {} });
  return finish(deps, wallet);
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
  const keyIndex = await tx(db, (tx) => reserveKeyIndex(tx, orgId));
  const address = await keyring.withSeed(seed, (keys) => keys.address(keyIndex));
  const inserted = await insertWallet(
    db,
    { ...input, walletId: newWalletId(), address, keyIndex },
    input.creation,
  );
  if (inserted) return { wallet: inserted, existed: false };
  // Another request inserted the wallet, or one under the same key, after the look-up.
  await findRepeated(db, input);
  const first = await findUserWallet(db, orgId, userId, walletType);
  assert(first, "a wallet that could not be inserted exists");
  return { wallet: first, existed: true };
}

export type SeedDeps = Pick<CreateWalletDeps, "db" | "keyring" | "escrow">;

/** The organisation's seed, which is created when it is absent. */
async function seedOf(deps: SeedDeps, orgId: string): Promise<SealedSeed> {
  const known = await findKnownSeed(deps, orgId);
  if (known) return known;
  const { db, keyring, escrow } = deps;
  const seed = await keyring.newSeed(orgId);
  // Another replica may have deposited its seed first.
  await insertSeed(db, escrow === null ? seed : await ofEscrow(escrow.deposit(seed)));
  return (await findSeed(db, orgId))!;
}

/**
 * The seed in the database. If a restore lost it, the escrow's copy is stored again. Undefined when
 * the organisation has none.
 */
export async function findKnownSeed(
  { db, escrow }: SeedDeps,
  orgId: string,
): Promise<SealedSeed | undefined> {
  const known = await findSeed(db, orgId);
  if (known || escrow === null) return known;
  const copy = await ofEscrow(escrow.find(orgId));
  if (!copy) return undefined;
  await insertSeed(db, copy);
  return findSeed(db, orgId);
}

/** A request that the escrow does not answer has created no wallet: SYS_002. */
async function ofEscrow<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new DomainError("SYS_002", null, { cause: error });
  }
}
