// Must compile against the packed library.
import {
  type ErrorCode,
  errorMeanings,
  isErrorCode,
  NetworkType,
  type Page,
  type ServiceClient,
  ServiceClient as Client,
  ServiceError,
  type TransactionCreateRequest,
  type TransactionResponse,
  TxPaymentType,
  WaitTimeoutError,
} from "@wonrail/sdk";

declare const client: ServiceClient;
declare const env: Record<string, string | undefined>;
declare const signal: AbortSignal | undefined;
const fields = { fromAddress: "0x", toAddress: "0x", amount: "1" };

export const requests: TransactionCreateRequest[] = [
  { ...fields, paymentType: "INSTANT", txHash: "0x" },
  { ...fields, paymentType: TxPaymentType.INSTANT, txHash: "0x", fromNetworkType: NetworkType.BASE_SEPOLIA },
  { ...fields, paymentType: "SCHEDULED", scheduledAt: new Date() },
  { ...fields, paymentType: "SCHEDULED", scheduledAt: "2030-01-01T00:00:00Z", toNetworkType: "WON_TESTNET" },
];

/** Options that mean the same when undefined compile, also with exactOptionalPropertyTypes. */
export const mayBeAbsent = new Client({
  apiKey: env["KEY"],
  baseUrl: env["URL"],
  logger: undefined,
  network: { rpcUrl: env["RPC_URL"], token: { address: env["TOKEN"] } },
});
void client.wallets.list({ limit: undefined, cursor: env["CURSOR"] }, { signal });
void client.transfers.create({ fromWalletId: "wal_1", toWalletAddress: "0x", amount: 1, memo: env["MEMO"] });

export async function use(): Promise<string | undefined> {
  const page: Page<TransactionResponse> = await client.transactions.list({ limit: 5, currentPage: 2 });
  for await (const { id, txHash } of client.transactions.list({ cursor: "c" }))
    console.log(id, txHash?.length);
  const { data, headers } = await client.wallets
    .get("wal_1", { signal: new AbortController().signal })
    .withResponse();
  await client.charges.create({ walletId: data.walletId, amount: 1000 }, { idempotencyKey: "k" });
  await client.transactions.waitForStatus("txn_1", async ({ status }) => status === "FAILED", {
    intervalMs: 1,
  });
  await client.transactions.updateStatus("txn_1", { status: "FAILED", failureReason: "reverted" });
  return page.items[0]?.memo ?? headers.get("x-request-id") ?? undefined;
}

/** The type of an event narrows its data, also that of a test. */
export async function received(body: string, headers: Headers): Promise<string | number> {
  const event = await client.webhooks.unwrap(body, headers, "whsec_");
  if (event.type === "webhook.test") return event.data.webhookId;
  return event.type === "payment.created" ? event.data.breakdown.normal : event.sequence;
}

/** The compiler knows every code, so a switch can end in never. */
export function advice(error: unknown): string {
  if (error instanceof WaitTimeoutError) return String(error.lastState);
  if (!(error instanceof ServiceError) || !isErrorCode(error.code)) return "unknown";
  const code: ErrorCode = error.code;
  const status: number | undefined = errorMeanings[code].status;
  return `${code} ${status}`;
}
