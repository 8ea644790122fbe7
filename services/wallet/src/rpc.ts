import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import {
  enumName,
  type GrpcService,
  implement,
  readAtMost,
  readOrgId,
  toErrorDetail,
} from "@wonrail/kit/grpc/server";
import { parseWon } from "@wonrail/kit/contract/money";
import { readKeyedRequest } from "@wonrail/kit/idempotency";
import { isUserId, normalizeUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import {
  AuthorizationKind,
  type AuthorizationIntent,
  type CreateWalletRequest,
  type EnsureWalletRequest,
  type GetWalletRequest,
  type SignedAuthorization,
  WalletServiceService,
  WalletType,
} from "@wonrail/proto/wallet/v1/wallet";
import { type App } from "./app";
import { withUnknownOutcome } from "./commands/withUnknownOutcome";
import { type SigningOutcome } from "./commands/signAuthorizations";
import { type SigningIntent } from "./domain/signingPolicy";
import { EMPTY_BALANCE, type Wallet, type WalletType as TypeName } from "./domain/wallet";
import { readListing, walletFactsMessage, walletMessage } from "./messages";
import { type CreationKey } from "./store/wallets";

const MAX_WALLETS = 1_000;
const MAX_INTENTS = 500;

/** The gRPC methods. A method that is absent here answers UNIMPLEMENTED. */
export function rpc(app: App): GrpcService[] {
  const shown = async (wallet: Wallet) => {
    const [found] = await app.withBalances([wallet]);
    return { wallet: walletMessage(found!) };
  };
  /** The change is stored: a failed balance look-up does not undo it. */
  const answer = (wallet: Wallet) => withUnknownOutcome(() => shown(wallet));
  return [
    implement(WalletServiceService, {
      createWallet: async (request) => {
        const { metadata, repeatOnly } = request;
        const creation = readCreationKey(request);
        const wanted = { ...readUserWallet(request), metadata, creation, repeatOnly };
        const { wallet, replayed } = await app.createWallet(wanted);
        // As created, also when it changed since: a replay gets the first answer.
        const made: Wallet = { ...wallet, status: "ACTIVE", metadata };
        return { wallet: walletMessage({ wallet: made, balance: EMPTY_BALANCE }), replayed };
      },
      getWallet: async (request) => ({ wallet: walletMessage(await app.getWallet(readKey(request))) }),
      listWallets: async (request) => {
        const { items, info } = await app.listWallets(readListing(request));
        return { wallets: items.map(walletMessage), page: info };
      },
      updateWallet: async (request) =>
        answer(await app.updateWallet({ ...readKey(request), metadata: request.metadata })),
      deactivateWallet: async (request) => {
        const { orgId, walletId } = readKey(request);
        const keyed = readKeyedRequest("deactivateWallet", orgId, request);
        const { answer: wallet, replayed } = await app.deactivateWallet({ orgId, walletId, keyed });
        // A replay gets the first answer: the wallet was empty.
        if (replayed) return { wallet: walletMessage({ wallet, balance: EMPTY_BALANCE }), replayed };
        return { ...(await answer(wallet)), replayed };
      },
      getWalletFacts: async ({ orgId, walletIds }) => {
        const wallets = await app.getWalletFacts(
          readOrgId(orgId),
          readAtMost(MAX_WALLETS, walletIds, "walletIds"),
        );
        const deactivated = wallets.filter(({ status }) => status === "DEACTIVATED");
        return {
          wallets: wallets.map(walletFactsMessage),
          deactivatedWalletIds: deactivated.map(({ walletId }) => walletId),
        };
      },
      ensureWallet: async (request) => ({
        wallet: walletFactsMessage(await app.ensureWallet(readUserWallet(request))),
      }),
      findWalletsByAddress: async ({ orgId, addresses }) => {
        // chain-relayer watches every address and names no organisation.
        const owner = orgId === "" ? null : readOrgId(orgId);
        const wanted = readAtMost(MAX_WALLETS, addresses, "addresses");
        const wallets = await app.findWalletsByAddress(owner, wanted);
        return { wallets: wallets.map(walletFactsMessage) };
      },
      signAuthorizations: async ({ intents }) => {
        const wanted = readAtMost(MAX_INTENTS, intents, "intents").map(readIntent);
        return { signatures: (await app.signAuthorizations(wanted)).map(signedMessage) };
      },
      getLatestAuthorization: async ({ orgId, ledgerRef }) => {
        const end = await app.findLatestEnd(readOrgId(orgId), ledgerRef);
        return { latestValidBefore: end === null ? undefined : BigInt(end.getTime() / 1000) };
      },
    }),
  ];
}

function readKey({ orgId, walletId }: GetWalletRequest) {
  return { orgId: readOrgId(orgId), walletId };
}

/** A user has one wallet of each type. */
function readUserWallet({ orgId, userId, walletType }: EnsureWalletRequest) {
  return { orgId: readOrgId(orgId), userId: readUserId(userId), walletType: readType(walletType) };
}

const MAX_KEY_CHARACTERS = 255;
const HASH_BYTES = 32;

function readCreationKey({ idempotencyKey, bodyHash }: CreateWalletRequest): CreationKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (idempotencyKey === "" || idempotencyKey.length > MAX_KEY_CHARACTERS)
    throw invalidRequest([{ path: "idempotencyKey", message: "must be 1 to 255 characters long" }]);
  if (bodyHash?.length !== HASH_BYTES)
    throw invalidRequest([{ path: "bodyHash", message: "must be 32 bytes" }]);
  return { key: idempotencyKey, bodyHash: Buffer.from(bodyHash) };
}

function readType(type: WalletType): TypeName {
  const name = enumName(WalletType, type);
  if (!name)
    throw invalidRequest([{ path: "walletType", message: "must be NORMAL, INCENTIVE or GOVERNMENT" }]);
  return name;
}

function readUserId(userId: string): string {
  if (!isUserId(userId)) throw invalidRequest([{ path: "userId", message: USER_ID_FORM }]);
  return normalizeUserId(userId);
}

function readIntent(intent: AuthorizationIntent, index: number): SigningIntent {
  const path = (name: string) => `intents.${index}.${name}`;
  const kind = enumName(AuthorizationKind, intent.kind);
  const amountWon = parseWon(intent.amountWon, path("amountWon"));
  const problems = [
    ...(kind ? [] : [{ path: path("kind"), message: "must be TRANSFER or BURN" }]),
    ...(amountWon > 0n ? [] : [{ path: path("amountWon"), message: "must be positive" }]),
    ...(intent.nonce.length === 32 ? [] : [{ path: path("nonce"), message: "must be 32 bytes" }]),
    ...((kind === "BURN" ? /^$/ : ADDRESS_FORM).test(intent.toAddress)
      ? []
      : [{ path: path("toAddress"), message: "must be an address, or empty to burn" }]),
  ];
  if (!kind || problems.length > 0) throw invalidRequest(problems);
  return {
    orgId: readOrgId(intent.orgId, path("orgId")),
    ledgerRef: intent.ledgerRef,
    fromWalletId: intent.fromWalletId,
    kind,
    toAddress: intent.toAddress,
    amountWon,
    nonce: Buffer.from(intent.nonce).toString("hex"),
    validBeforeMs: Number(intent.validBefore) * 1000,
    chainId: intent.chainId,
    tokenAddress: intent.tokenAddress,
  };
}

function signedMessage(outcome: SigningOutcome): SignedAuthorization {
  if ("signature" in outcome) return { outcome: { $case: "signature", value: outcome.signature } };
  const error = toErrorDetail(new DomainError("SIG_001", { reason: outcome.refused }));
  return { outcome: { $case: "error", value: error } };
}
