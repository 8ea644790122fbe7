import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { newId } from "@wonrail/kit/contract/ids";
import { type Charge, type Transfer } from "@wonrail/proto/ledger/v1/intents";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { readChain } from "./audit";
import { type World } from "./world";

export interface TestWallet {
  walletId: string;
  address: string;
}

type PostIntent = NonNullable<PostRequest["intent"]>;
/** An intent without the fields that no test needs. */
type Intent =
  | Exclude<PostIntent, { $case: "charge" | "transfer" }>
  | { $case: "charge"; value: Omit<Charge, "dailyLimitWon" | "maxChargeWon"> }
  | { $case: "transfer"; value: Omit<Transfer, "toAddress"> };

const UNITS_PER_WON = 1_000_000n;
export const NO_LIMIT = "1000000000000";

/** An organisation of a test, with functions that move its money and compare its two books. */
export function openBook(world: World, orgId: string = newId("org")) {
  const wallets: TestWallet[] = [];
  let posted = 0;

  async function openWallet(userId: string, walletType = WalletType.NORMAL): Promise<TestWallet> {
    const { wallet } = await world.wallet.createWallet({ orgId, userId, walletType, metadata: {} });
    const opened = { walletId: wallet!.walletId, address: wallet!.walletAddress };
    wallets.push(opened);
    return opened;
  }

  /** Answers the request id, by which everything else knows the entry. */
  async function post(
    prefix: "chg" | "pay" | "pcl" | "prf" | "rfd" | "trf" | "ccl" | "hld" | "opn",
    intent: Intent,
  ) {
    const requestId = newId(prefix);
    posted += 1;
    await world.ledger.post(request(requestId, intent));
    return requestId;
  }

  async function postMany(intents: Intent[]): Promise<string[]> {
    const ids: string[] = [];
    for (let start = 0; start < intents.length; start += 500) {
      const items = intents.slice(start, start + 500).map((intent) => request(newId("opn"), intent));
      const { outcomes } = await world.ledger.postBulk({ items });
      const refused = outcomes.find(({ outcome }) => outcome?.$case !== "posted");
      if (refused) throw new Error(`refused: ${JSON.stringify(refused.outcome)}`);
      posted += items.length;
      ids.push(...items.map(({ requestId }) => requestId));
    }
    return ids;
  }

  function request(requestId: string, intent: Intent): PostRequest {
    const context = { requestId: newId("req"), traceparent: "", orgId, deadline: undefined };
    return { context, requestId, metadata: {}, intent: completed(intent) };
  }

  function completed(intent: Intent): PostIntent {
    switch (intent.$case) {
      case "charge":
        return {
          $case: "charge",
          value: { ...intent.value, dailyLimitWon: NO_LIMIT, maxChargeWon: NO_LIMIT },
        };
      case "transfer":
        return {
          $case: "transfer",
          value: { ...intent.value, toAddress: addressOf(intent.value.toWalletId) },
        };
      default:
        return intent;
    }
  }

  function addressOf(walletId: string): string {
    return wallets.find((wallet) => wallet.walletId === walletId)?.address ?? ZERO_ADDRESS;
  }

  /**
   * Wallets whose chain balance differs from the ledger's. A hold to the outside has already left
   * the chain. Empty: the books agree.
   */
  async function differences(): Promise<string[]> {
    const chain = await readChain(world);
    const { accounts } = await world.ledger.getBalances({
      orgId,
      accountIds: wallets.map(({ walletId }) => walletId),
    });
    const inLedger = new Map(
      accounts.map(({ accountId, availableWon }) => [accountId, BigInt(availableWon)]),
    );
    return wallets.flatMap(({ walletId, address }) => {
      const expected = (inLedger.get(walletId) ?? 0n) * UNITS_PER_WON;
      const actual = chain.balances.get(address.toLowerCase()) ?? 0n;
      return expected === actual ? [] : [`${walletId}: ledger ${expected}, chain ${actual}`];
    });
  }

  return { orgId, wallets, openWallet, post, postMany, differences, posted: () => posted };
}

export interface OperationState {
  ledger_ref: string;
  operation_id: string;
  state: string;
  wait_reason: string | null;
  tx_hash: string | null;
  block_number: bigint | null;
  block_hash: string | null;
  attempts: number;
}

export function readOperations(world: World): Promise<OperationState[]> {
  return world.relayerDb.query<OperationState>(sql`
    select ledger_ref, operation_id, state, wait_reason, tx_hash, block_number, block_hash, attempts from operations`);
}

/** Waits until this many operations exist and none is open. */
export function untilSettled(
  world: World,
  operations: number,
  timeoutMs = 90_000,
): Promise<OperationState[]> {
  return eventually(
    async () => {
      const all = await readOperations(world);
      const open = all.filter(({ state }) => !["CONFIRMED", "FAILED", "PASSED"].includes(state));
      if (all.length < operations || open.length > 0) {
        throw new Error(
          `${all.length} of ${operations} operations, ${open.length} open: ${await describeUnsettled(world)}`,
        );
      }
      return all;
    },
    { timeoutMs, intervalMs: 100 },
  );
}

/** Explains open operations: their states, the stopped queues and wallets, and the writers. */
async function describeUnsettled({ relayerDb }: World): Promise<string> {
  const { found } = await relayerDb.one<{ found: unknown }>(sql`
    select json_build_object(
      'open', (select json_agg(o) from (
        select state, wait_reason, count(*), min(ledger_ref) as one from operations
        where state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED') group by 1, 2) o),
      'drifts', (select json_agg(d) from (select * from drifts where acknowledged_at is null limit 5) d),
      'queues', (select json_agg(q) from settlement_queues q where paused_reason is not null or head_sequence > cursor_sequence),
      'signers', (select json_agg(s) from (select *, now() as now from signers) s)) as found`);
  return JSON.stringify(found);
}
