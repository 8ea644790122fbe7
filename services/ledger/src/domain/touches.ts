import { never } from "@wonrail/kit/contract/errors";
import type { LedgerRequest, OrgAccountType } from "./types";

/** What a request refers to: all that must be locked and read before it can be decided. */
export interface Touches {
  walletIds: string[];
  orgAccounts: OrgAccountType[];
  /** All wallets of this wallet's user take part. */
  userOfWalletId?: string;
  /** All wallets of this user are looked at. */
  userId?: string;
  /** The entry that it cancels, with the accounts of its postings. */
  originalRequestId?: string;
  holdRequestId?: string;
  chainLogId?: string;
}

export function touchesOf({ intent }: LedgerRequest): Touches {
  switch (intent.kind) {
    case "openAccount":
      return { walletIds: [intent.walletId], orgAccounts: [], userId: intent.userId };
    case "closeAccount":
    case "reopenAccount":
    case "freezeAccount":
      return { walletIds: [intent.walletId], orgAccounts: [] };
    case "charge":
    case "refund":
      return { walletIds: [intent.walletId], orgAccounts: ["ORG_ISSUANCE"] };
    case "cancelCharge":
      return { walletIds: [], orgAccounts: ["ORG_ISSUANCE"], originalRequestId: intent.chargeRequestId };
    case "transfer":
      return { walletIds: [intent.fromWalletId, intent.toWalletId], orgAccounts: [] };
    case "payment":
      return {
        walletIds: [intent.payerWalletId, intent.receiverWalletId],
        orgAccounts: intent.accrualRateBps > 0 ? ["ORG_INCENTIVE"] : [],
        userOfWalletId: intent.payerWalletId,
      };
    case "cancelPayment":
      return { walletIds: [], orgAccounts: ["ORG_INCENTIVE"], originalRequestId: intent.paymentRequestId };
    case "placeHold":
      return { walletIds: [intent.walletId], orgAccounts: [] };
    case "postHold":
      return { walletIds: [], orgAccounts: ["ORG_EXTERNAL"], holdRequestId: intent.holdRequestId };
    case "voidHold":
      return { walletIds: [], orgAccounts: [], holdRequestId: intent.holdRequestId };
    case "creditExternal":
      return { walletIds: [intent.walletId], orgAccounts: ["ORG_EXTERNAL"], chainLogId: intent.chainLogId };
    default:
      return never(intent);
  }
}
