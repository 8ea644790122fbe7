import { type Json } from "../support/api";
import { type Demo } from "./demo";
import { type Cast } from "./money";
import { krw, screen } from "./screen";

const MONTH_MS = 31 * 24 * 3_600_000;

/** Exports alice's month for the bookkeeping. */
export async function reportsChapter({ stack, api }: Demo, { alice }: Cast): Promise<void> {
  screen.chapter("A month for the books");
  const from = new Date(Date.now() - MONTH_MS).toISOString();
  const query = `from=${from}&walletId=${alice.walletId}`;
  const { statements } = await api.get(`/api/reports/statements?${query}`);
  const { openingBalance, closingBalance, transactions } = (statements as Json[])[0]!;
  const { balance } = await api.get(`/api/wallets/${alice.walletId}`);
  if (closingBalance !== balance)
    throw new Error(`the statement of alice ends with ${closingBalance}, and her balance is ${balance}`);
  screen.line(
    `alice: opening ${krw(openingBalance)}, ${transactions.length} movements, closing ${krw(closingBalance)}`,
  );
  const headers = { "X-API-Key": stack.organisations[0]!.apiKey };
  const answer = await fetch(`${stack.gatewayUrl}/api/reports/statements?${query}&format=camt053`, {
    headers,
  });
  const entries = (await answer.text()).split("<Ntry>").length - 1;
  if (entries !== transactions.length) throw new Error(`camt.053 has ${entries} entries`);
  screen.done(`the same ${entries} entries as camt.053 for accounting software`);
}
