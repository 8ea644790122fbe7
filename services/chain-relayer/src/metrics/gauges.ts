import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { createReorgWatch } from "../evm";

export type Gauges = ReturnType<typeof createGauges>;

export function createGauges(registry: Registry, now: () => number) {
  const registers = [registry];
  return {
    reorgs: createReorgWatch(registry),
    roleMissing: new Gauge({
      name: "operator_role_missing",
      help: "1 while the operator's key may not call the payment manager; 0 otherwise",
      registers,
    }),
    replaced: new Gauge({
      name: "chain_final_block_replaced",
      help: "1 when the chain has replaced the last ingested block, so that no further block is ingested; 0 otherwise",
      registers,
    }),
    head: unknownYet(new Gauge({ name: "chain_head_block", help: "The newest block", registers })),
    headTime: createHeadAge(registry, now),
    lag: unknownYet(
      new Gauge({
        name: "chain_confirmed_lag_blocks",
        help: "Blocks between the newest and the last indexed one",
        registers,
      }),
    ),
    scanLag: unknownYet(
      new Gauge({
        name: "chain_scan_lag_seconds",
        help: "Time between the newest final block and the last indexed one",
        registers,
      }),
    ),
    balance: unknownYet(
      new Gauge({
        name: "hot_wallet_balance_wei",
        help: "The operator's remaining balance for gas",
        registers,
      }),
    ),
    ...createMintRoom(registry),
    nonceGap: unknownYet(
      new Gauge({
        name: "nonce_gap",
        help: "Sent transactions that are missing in the node's pool",
        registers,
      }),
    ),
    transactions: new Gauge({ name: "tx_pending", help: "Transactions under way", registers }),
    ...createOpenGauges(registry),
  };
}

/** Gauges of open operations. */
function createOpenGauges(registry: Registry) {
  const registers = [registry];
  return {
    oldest: new Gauge({
      name: "relay_pending_oldest_seconds",
      help: "Age of the oldest operation that is not final; paused queues, blocked operations and blocked wallets do not count",
      registers,
    }),
    oldestUnmined: new Gauge({
      name: "relay_unmined_oldest_seconds",
      help: "Age of the oldest operation that is in no block; paused queues, blocked operations and blocked wallets do not count",
      registers,
    }),
    pausedQueues: new Gauge({
      name: "relay_paused_queues",
      help: "Organisations whose settlement queue an operator has paused",
      registers,
    }),
    oldestPaused: new Gauge({
      name: "relay_paused_oldest_seconds",
      help: "Age of the oldest operation that waits in a paused queue",
      registers,
    }),
    blockedWallets: new Gauge({
      name: "relay_blocked_wallets",
      help: "Wallets that the token's blocklist has, in final blocks",
      registers,
    }),
    unpostedBlocks: new Gauge({
      name: "relay_unposted_wallet_blocks",
      help: "Wallets whose newest block or unblock the ledger has not stored",
      registers,
    }),
    open: new Gauge({
      name: "relay_open_operations",
      help: "Unfinished operations by state and wait reason, at most 10,000 of each; QUEUED: all entries not yet pulled",
      labelNames: ["state", "reason"],
      registers,
    }),
  };
}

function createMintRoom(registry: Registry) {
  const registers = [registry];
  return {
    mintAllowance: unknownYet(
      new Gauge({
        name: "mint_allowance_won",
        help: "Remaining mint allowance of the payment manager in the newest final block; absent until known",
        registers,
      }),
    ),
    mintableToday: unknownYet(
      new Gauge({
        name: "mintable_today_won",
        help: "Remaining amount that all minters may mint within 24 hours, in the newest final block; absent until known",
        registers,
      }),
    ),
  };
}

/** Removes the initial 0, which would be an alarm or a false "all is well". */
function unknownYet(gauge: Gauge): Gauge {
  gauge.remove();
  return gauge;
}

/**
 * Age of the newest block, computed at each scrape, because it grows while no endpoint answers.
 * Counts from the process's start before the first block.
 */
function createHeadAge(registry: Registry, now: () => number): (seconds: number) => void {
  let headAt = now() / 1000;
  new Gauge({
    name: "chain_head_age_seconds",
    help: "Age of the newest block",
    registers: [registry],
    collect() {
      this.set(now() / 1000 - headAt);
    },
  });
  return (seconds) => void (headAt = seconds);
}
