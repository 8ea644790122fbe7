import { ServiceClient } from "@wonrail/sdk";
import { type Api } from "../support/api";
import { type CamtReader, findCamtReader } from "../support/camtReader";
import { reportSkipped } from "../support/reportSkipped";

interface Organisation {
  api: Api;
  apiKey: string;
  gatewayUrl: string;
  /** Wallets with movements. */
  walletIds: string[];
}

/** Registers the test of an organisation's camt.053 document with a parser from PyPI. */
export function testCamtStatements(open: () => Promise<Organisation>): void {
  const title = "statements in camt.053 are valid, and agree with balances and JSON";
  const read = findCamtReader();
  if (typeof read === "string") {
    reportSkipped(`camt.053 is not read by PyPI's camt053: ${read}`);
    test.skip(title, () => undefined);
    return;
  }
  test(title, async () => check(await open(), read));
}

async function check({ api, apiKey, gatewayUrl, walletIds }: Organisation, read: CamtReader): Promise<void> {
  const client = new ServiceClient({ baseUrl: gatewayUrl, apiKey });
  const from = new Date(Date.now() - 24 * 3_600_000);
  const file = await client.reports.downloadStatements({ from, format: "camt053" });
  const { verdict, statements } = read(await new Response(file).text());
  expect(verdict).toMatchObject({ valid: true, message_type: "camt.053.001.08" });
  expect(statements.map(({ account }) => `wal_${account}`).sort()).toEqual([...walletIds].sort());
  for (const { account, balances, amounts } of statements) {
    const { balance } = await api.get(`/api/wallets/wal_${account}`);
    const sum = amounts.reduce((total, amount) => total + amount, balances.OPBD!);
    expect([balances.CLBD, sum]).toEqual([balance, balance]);
  }
  const json = await client.reports.statements({ from });
  expect(json.statements.map(({ transactions }) => transactions.length)).toEqual(
    statements.map(({ amounts }) => amounts.length),
  );
  const { operations } = await client.reports.settlements({ from });
  const movements = json.statements.flatMap(({ transactions }) => transactions);
  expect(new Set(operations.map(({ operationId }) => operationId))).toEqual(
    new Set(movements.map(({ cancelId, relatedId }) => cancelId ?? relatedId)),
  );
}
