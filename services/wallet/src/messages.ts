import { isId } from "@wonrail/kit/contract/ids";
import { normalizeUserId } from "@wonrail/kit/contract/userId";
import { enumFilter, enumValue, readOrgId } from "@wonrail/kit/grpc/server";
import { readPage } from "@wonrail/kit/page";
import * as message from "@wonrail/proto/wallet/v1/wallet";
import { visibleStatus, type Wallet, type WalletWithBalance } from "./domain/wallet";

/** Converts domain objects to messages, and requests of both services to queries. */

type ListingRequest = Pick<message.ListWalletsRequest, "orgId" | "userId" | "walletType" | "status" | "page">;

/** The wanted part of an organisation's wallets. */
export function readListing({ orgId, userId, walletType, status, page }: ListingRequest) {
  const type = enumFilter(message.WalletType, walletType, "walletType");
  const state = enumFilter(message.WalletStatus, status, "status");
  const filter = {
    ...(userId === undefined ? {} : { userId: normalizeUserId(userId) }),
    ...(type === undefined ? {} : { walletType: type }),
    ...(state === undefined ? {} : { status: state }),
  };
  return { orgId: readOrgId(orgId), filter, page: readPage(page, (key) => isId("wal", key)) };
}

/** The facts of a wallet that never change. Other services cache them. */
export function walletFactsMessage({
  walletId,
  orgId,
  userId,
  walletType,
  address,
}: Wallet): message.WalletFacts {
  return {
    walletId,
    orgId,
    userId,
    walletType: enumValue(message.WalletType, walletType),
    walletAddress: address,
  };
}

export function walletMessage({ wallet, balance }: WalletWithBalance): message.Wallet {
  return {
    walletId: wallet.walletId,
    userId: wallet.userId,
    walletType: enumValue(message.WalletType, wallet.walletType),
    walletAddress: wallet.address,
    status: enumValue(message.WalletStatus, visibleStatus(wallet.status)),
    metadata: wallet.metadata,
    balanceWon: balance.balanceWon,
    availableBalanceWon: balance.availableWon,
    createdAt: wallet.createdAt,
    updatedAt: wallet.updatedAt,
  };
}
