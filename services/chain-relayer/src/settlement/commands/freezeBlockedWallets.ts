import { hash } from "node:crypto";
import { type Database } from "@wonrail/kit/db";
import { childTraceparent } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { Freeze, FreezeSource } from "@wonrail/proto/ledger/v1/intents";
import {
  type LedgerServiceService,
  type PostOutcome,
  type PostRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { claimWalletBlocks, notePosted, type WalletBlock } from "../store/walletBlocks";

export interface FreezeDeps {
  db: Database;
  log: Log;
  ledger: Pick<PromiseClient<LedgerServiceService>, "postBulk">;
  chain: { chainId: bigint };
}

const AT_ONCE = 500;

/**
 * Freezes wallets in the ledger while the token's blocklist has them. The idempotency key is the
 * event's place on the chain, so the ledger posts each change once.
 */
export async function freezeBlockedWallets(deps: FreezeDeps, signal: AbortSignal): Promise<void> {
  const { db, log, ledger, chain } = deps;
  for (let more = true; more && !signal.aborted;) {
    const blocks = await claimWalletBlocks(db, AT_ONCE);
    if (blocks.length === 0) return;
    const items = blocks.map((block) => requestFor(block, chain.chainId));
    const { outcomes } = await ledger.postBulk({ items });
    for (const [index, block] of blocks.entries()) {
      const refusal = refusalOf(outcomes[index]);
      await notePosted(db, block, refusal);
      if (refusal !== null)
        log.warn({ walletId: block.walletId, code: refusal }, "the ledger refused a freeze");
    }
    more = blocks.length === AT_ONCE;
  }
}

function refusalOf(answer?: PostOutcome): string | null {
  if (answer?.outcome?.$case === "posted") return null;
  return answer?.outcome?.value.code ?? "no_answer";
}

/** The token refuses transfers from and to a blocked account, so all movements are frozen. */
function requestFor(block: WalletBlock, chainId: bigint): PostRequest {
  const { orgId, walletId, blocked, blockNumber, blockHash, logIndex } = block;
  const key = `${chainId}/${blockHash}/${logIndex}`;
  return {
    context: { orgId, requestId: newId("req"), traceparent: childTraceparent() },
    requestId: newId("opn"),
    key: { scope: "BLOCKLIST", key, bodyHash: hash("sha256", `${walletId}/${blocked}`, "buffer") },
    metadata: {},
    intent: {
      $case: "freezeAccount",
      value: {
        walletId,
        freeze: blocked ? Freeze.ALL : Freeze.NONE,
        reason: `${blocked ? "blocked" : "unblocked"} on the chain in block ${blockNumber}`,
        source: FreezeSource.CHAIN,
      },
    },
  };
}
