import { type AdminHandlers, implementAdmin } from "@wonrail/kit/admin";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { formatWon } from "@wonrail/kit/contract/money";
import { type Database } from "@wonrail/kit/db";
import { enumValue, type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import { KeyFileProblem } from "@wonrail/kit/kms";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { AuthorizationKind, WalletStatus } from "@wonrail/proto/wallet/v1/wallet";
import { type App } from "./app";
import { visibleStatus } from "./domain/wallet";
import { readListing, walletMessage } from "./messages";

type AdminApp = Pick<
  App,
  | "checkSeals"
  | "resealSeeds"
  | "reenterLostWallets"
  | "skipKeyIndexes"
  | "requestReopening"
  | "findReopening"
  | "getWalletDetails"
  | "listSignings"
  | "listWallets"
  | "search"
  | "signingLimitWon"
>;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: AdminApp, db: Database): GrpcService {
  const handlers: AdminHandlers<typeof WalletAdminServiceService> = {
    async search({ text }) {
      return { hits: await app.search(text.trim()) };
    },

    async getWalletDetails({ walletId }) {
      const { wallet, status, closingSince, creationKey, signedWon, ...rest } = await app.getWalletDetails(
        readWalletId(walletId),
      );
      return {
        ...rest,
        wallet: walletMessage(wallet),
        state: status,
        closingSince: closingSince ?? undefined,
        creationKey: creationKey ?? undefined,
        signedWon: formatWon(signedWon),
        signingLimitWon: formatWon(app.signingLimitWon),
      };
    },

    async listOrganisationWallets(request) {
      const { items, info } = await app.listWallets(readListing(request));
      return { wallets: items.map(walletMessage), page: info };
    },

    async listSignings({ orgId, ledgerRef }) {
      const { signings, refusals } = await app.listSignings({ orgId: readOrgId(orgId), ledgerRef });
      return {
        signings: signings.map(({ kind, amountWon, ...signing }) => ({
          ...signing,
          kind: enumValue(AuthorizationKind, kind),
          amountWon: formatWon(amountWon),
        })),
        refusals,
      };
    },

    async checkSeals() {
      const { currentKeyId, checks } = await withKeyFile(() => app.checkSeals());
      return {
        currentKekId: currentKeyId,
        checks: checks.map(({ problem, ...check }) => ({ ...check, problem: problem ?? undefined })),
      };
    },

    async resealSeeds(_request, { operator }) {
      const { kekId, resealed, unopened } = await withKeyFile(() => app.resealSeeds(operator));
      return { kekId, resealed, unopenedOrgIds: unopened };
    },

    async skipKeyIndexes(_request, { operator }) {
      return { organisations: await app.skipKeyIndexes(operator) };
    },

    async reenterLostWallets(_request, { operator }) {
      const reentered = await app.reenterLostWallets(operator);
      if (!reentered)
        throw refusal("kafka", "the service runs without Kafka, which alone keeps lost wallets");
      return { ...reentered, wallets: BigInt(reentered.wallets), known: BigInt(reentered.known) };
    },

    async reopenWallet(request, { operator }) {
      const key = keyOf(request);
      const begun = await app.requestReopening(key, operator);
      if (begun === undefined) throw refusal("wallet", `${key.orgId} has no wallet ${key.walletId}`);
      if (typeof begun === "string")
        throw refusal("wallet", `${key.walletId} is ${begun}: only a DEACTIVATED wallet can be reopened`);
      return {};
    },

    async getReopening(request) {
      const { reopening, wallet } = await app.findReopening(keyOf(request));
      if (!wallet) throw new DomainError("WAL_002", { walletId: request.walletId });
      const status = enumValue(WalletStatus, visibleStatus(wallet.status));
      return { requestId: reopening?.requestId, status };
    },
  };
  return implementAdmin(WalletAdminServiceService, handlers, db);
}

function keyOf({ orgId, walletId }: { orgId: string; walletId: string }): {
  orgId: Id<"org">;
  walletId: Id<"wal">;
} {
  return { orgId: readOrgId(orgId), walletId: readWalletId(walletId) };
}

function readWalletId(walletId: string): Id<"wal"> {
  if (!isId("wal", walletId)) throw refusal("walletId", "must be a wallet's id");
  return walletId;
}

async function withKeyFile<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KeyFileProblem ? refusal("keyFile", error.message) : error;
  }
}

function refusal(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}
