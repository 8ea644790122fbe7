import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/wallet/v1/wallet";
import { visibleStatus, type Wallet, type WalletWithBalance } from "./domain/wallet";

/** Converts domain objects to messages. Answers and events use the same messages. */

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
