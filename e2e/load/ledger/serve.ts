// A ledger replica as its own process: the real gRPC server, app and engine on the database of
// DATABASE_URL. A second server with the same contract returns constant answers, to measure the
// transport. The outbox is written as always; its publishing is measured separately.
import { startGrpcServer, implement } from "@wonrail/kit/grpc/server";
import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { LedgerServiceService, type PostOutcome, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { createApp } from "../../../services/ledger/src/app";
import type { Entry } from "../../../services/ledger/src/domain/types";
import { entryMessage } from "../../../services/ledger/src/messages";
import { rpc } from "../../../services/ledger/src/rpc";
import { open } from "./world";

const log = createLog({ service: "bench", level: "error" });

async function main(): Promise<void> {
  const registry = createRegistry({ service: "ledger", version: "0", commit: "0" });
  const db = open(process.env.DATABASE_URL!, "ledger");
  const config = {
    BATCH_QUEUES: 2,
    MAX_BATCH: 1_000,
    MAX_QUEUE: 20_000,
    MAX_CHARGED_PER_DAY_WON: Number.MAX_SAFE_INTEGER,
  };
  const app = await createApp({ config: config as never, db, log, registry, onClose: () => undefined });
  const door = { host: "127.0.0.1", port: 0, log };
  const server = await startGrpcServer({ ...door, services: rpc(app), registry });
  const ceiling = await startGrpcServer({
    ...door,
    services: [ready()],
    registry: createRegistry({ service: "ceiling", version: "0", commit: "0" }),
  });
  process.on("message", (message) => {
    if (message === "use") process.send!({ rssBytes: process.memoryUsage.rss(), cpu: process.cpuUsage() });
  });
  process.send!({ port: server.port, ceilingPort: ceiling.port });
}

/** Answers each transfer with two postings of the right size. */
function ready() {
  const answer = ({ requestId }: PostRequest) => {
    const posting = {
      accountId: `wal_${"a".repeat(32)}`,
      type: "TRANSFER",
      amountWon: 10n,
      balanceAfterWon: 1_000_000n,
      sequence: 1n,
    };
    const balance = { accountId: posting.accountId, balanceWon: 1_000_000n, heldWon: 0n, sequence: 1n };
    const entry = {
      kind: "transfer",
      requestId,
      postedAtMs: Date.now(),
      postings: [posting, posting],
      balances: [balance, balance],
      orgSequence: 1n,
      metadata: {},
      chargeCancelled: null,
      hold: null,
      toAddress: ZERO_ADDRESS,
      payerWalletId: null,
      original: null,
    };
    return entryMessage(entry as unknown as Entry);
  };
  return implement(LedgerServiceService, {
    post: async (request) => ({ entry: answer(request), replayed: false }),
    postBulk: async ({ items }) => ({
      outcomes: items.map((item): PostOutcome => {
        return { outcome: { $case: "posted", value: answer(item) }, replayed: false };
      }),
    }),
  });
}

void main();
