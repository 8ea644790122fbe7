// Must not compile against the packed library. A missing error fails the build.
import { type ErrorCode, type ServiceClient, type TransactionCreateRequest as Request } from "@wonrail/sdk";

declare const client: ServiceClient;
declare const fields: { fromAddress: string; toAddress: string; amount: string };
declare const instant: { paymentType: "INSTANT"; txHash: string; fromAddress: string; toAddress: string };
declare const scheduled: typeof fields & { paymentType: "SCHEDULED"; scheduledAt: string };

// @ts-expect-error An INSTANT needs its txHash.
export const noHash: Request = { ...fields, paymentType: "INSTANT" };
// @ts-expect-error A SCHEDULED needs its time.
export const noTime: Request = { ...fields, paymentType: "SCHEDULED" };
// @ts-expect-error A SCHEDULED has no txHash yet.
export const both: Request = { ...scheduled, txHash: "0x" };
// @ts-expect-error Amounts of records are strings, for a number would lose digits.
export const number: Request = { ...instant, amount: 1 };
// @ts-expect-error There is no such network.
export const network: Request = { ...scheduled, toNetworkType: "MAINNET" };
// @ts-expect-error A page by number or by cursor, not both.
void client.wallets.list({ currentPage: 1, cursor: "c" });
// @ts-expect-error Amounts of wallets are numbers of KRW.
void client.charges.create({ walletId: "wal_1", amount: "1000" });
// @ts-expect-error The service takes no idempotency key here.
void client.wallets.update("wal_1", { metadata: {} }, { idempotencyKey: "k" });
// @ts-expect-error Without an amount the whole rest is cancelled.
void client.charges.cancel({ chargeId: "chg_1", amount: undefined });
// @ts-expect-error An undefined filter would list all wallets.
void client.wallets.list({ userId: undefined });
// @ts-expect-error A lost key must not become a new one.
void client.charges.create({ walletId: "wal_1", amount: 1000 }, { idempotencyKey: undefined });
// @ts-expect-error A reason goes with FAILED only.
void client.transactions.updateStatus("txn_1", { status: "CONFIRMED", failureReason: "" });
// @ts-expect-error There is no such code.
export const code: ErrorCode = "TX_999";
