import { type Won } from "@wonrail/kit/contract/money";

export interface Transfer {
  orgId: string;
  transferId: string;
  status: "PENDING" | "COMPLETED" | "FAILED";
  fromWalletId: string;
  toWalletAddress: string;
  toWalletId: string | null;
  amountWon: Won;
  memo: string | null;
  failureReason: string | null;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}
