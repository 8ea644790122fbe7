import { type AdminHandlers, implementAdmin, readLimit } from "@wonrail/kit/admin";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { type Database } from "@wonrail/kit/db";
import { enumName, type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import {
  type FrozenWallet as FrozenMessage,
  LedgerAdminServiceService,
} from "@wonrail/proto/ledger/v1/admin";
import { Freeze as FreezeMessage } from "@wonrail/proto/ledger/v1/intents";
import { type App } from "./app";
import { type FrozenWallet } from "./commands/freezeWallet";
import { type Freeze } from "./domain/accountTypes";

type AdminApp = Pick<App, "listFrozenWallets" | "freezeWallet" | "unfreezeWallet">;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: AdminApp, db: Database): GrpcService {
  const handlers: AdminHandlers<typeof LedgerAdminServiceService> = {
    async listFrozenWallets({ orgId, walletId, afterWalletId, limit }) {
      const wallets = await app.listFrozenWallets({
        orgId: orgId === undefined ? null : readOrgId(orgId),
        walletId: walletId === undefined ? null : readWalletId(walletId, "walletId"),
        afterWalletId: afterWalletId === undefined ? null : readWalletId(afterWalletId, "afterWalletId"),
        limit: readLimit(limit),
      });
      return { wallets: wallets.map(frozenMessage) };
    },

    async freezeWallet({ orgId, walletId, freeze }, { operator }) {
      const wanted = {
        ...keyOf({ orgId, walletId }),
        freeze: readFreeze(freeze, "freeze", ["OUTGOING", "ALL"]),
      };
      return { wallet: frozenMessage(await app.freezeWallet(wanted, operator)) };
    },

    async unfreezeWallet({ orgId, walletId, remaining }, { operator }) {
      const freeze = readFreeze(remaining, "remaining", ["NONE", "OUTGOING"]);
      await app.unfreezeWallet({ ...keyOf({ orgId, walletId }), freeze }, operator);
      return {};
    },
  };
  return implementAdmin(LedgerAdminServiceService, handlers, db);
}

function keyOf({ orgId, walletId }: { orgId: string; walletId: string }) {
  return { orgId: readOrgId(orgId), walletId: readWalletId(walletId, "walletId") };
}

function readWalletId(text: string, path: string): Id<"wal"> {
  if (isId("wal", text)) return text;
  throw invalidRequest([{ path, message: "must be a wallet's id" }]);
}

function readFreeze(value: FreezeMessage, path: string, allowed: Freeze[]): Freeze {
  const name = enumName(FreezeMessage, value);
  if (name !== undefined && allowed.includes(name)) return name;
  throw invalidRequest([{ path, message: `must be ${allowed.join(" or ")}` }]);
}

function frozenMessage({ byChain, byOperator, ...key }: FrozenWallet): FrozenMessage {
  return { ...key, byChain: FreezeMessage[byChain], byOperator: FreezeMessage[byOperator] };
}
