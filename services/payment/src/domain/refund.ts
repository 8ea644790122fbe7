import { type Won } from "@wonrail/kit/contract/money";

export interface Refund {
  orgId: string;
  refundId: string;
  walletId: string;
  amountWon: Won;
  memo: string | null;
  createdAt: Date;
}
