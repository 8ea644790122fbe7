import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { fork } from "node:child_process";
import { join } from "node:path";
import { coalesce, createClient, type Coalesced } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { nodeFlags } from "@wonrail/local/services";
import type { ItemContext } from "@wonrail/proto/common/v1/common";
import {
  LedgerServiceService,
  type PostOutcome,
  type PostRequest,
  type PostResponse,
} from "@wonrail/proto/ledger/v1/ledger";
import { DAILY_LIMIT } from "./world";

export interface BenchReplica {
  address: string;
  ceilingAddress: string;
  /** Memory and processor time of its process. */
  use: () => Promise<{ memoryMb: number; cpuSeconds: number }>;
  stop(): Promise<void>;
}

export async function startBenchReplica(databaseUrl: string): Promise<BenchReplica> {
  const child = fork(join(__dirname, "serve.ts"), {
    execArgv: [...nodeFlags("ledger"), "--require", require.resolve("tsx/cjs")],
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`the replica ended with ${code}`));
      child.once("exit", onExit);
      child.once("message", (message) => {
        child.off("exit", onExit);
        resolve(message as T);
      });
    });
  const { port, ceilingPort } = await next<{ port: number; ceilingPort: number }>();
  return {
    address: `127.0.0.1:${port}`,
    ceilingAddress: `127.0.0.1:${ceilingPort}`,
    async use() {
      const answer = next<{ rssBytes: number; cpu: NodeJS.CpuUsage }>();
      child.send("use");
      const { rssBytes, cpu } = await answer;
      return { memoryMb: rssBytes / 1024 / 1024, cpuSeconds: (cpu.user + cpu.system) / 1e6 };
    },
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export interface BenchClient {
  unary: (request: PostRequest) => Promise<PostResponse>;
  coalesced: Coalesced<PostRequest, PostResponse>;
  close(): Promise<void>;
}

/**
 * Calls like the payment service: through the kit's client with a batch queue before the bulk RPC.
 */
export function createBenchClient(address: string): BenchClient {
  const client = createClient(LedgerServiceService, {
    name: "ledger",
    address,
    log: createLog({ service: "bench", level: "error" }),
    registry: createRegistry({ service: "bench", version: "0", commit: "0" }),
    defaultTimeoutMs: 10_000,
  });
  const coalesced = coalesce<PostRequest, PostResponse, PostRequest, PostOutcome>({
    name: "ledger",
    bulk: async (items, options) => (await client.postBulk({ items }, options)).outcomes,
    unary: client.post,
    toItem: (request: PostRequest, context: ItemContext) => ({
      ...request,
      context: { ...context, orgId: request.context!.orgId },
    }),
    fromAnswer: ({ outcome, replayed }) =>
      outcome?.$case === "posted"
        ? { value: { entry: outcome.value, replayed } }
        : { error: outcome?.value ?? { code: "SYS_001" } },
    defaultTimeoutMs: 10_000,
    maxBatch: 1_000,
    bytesOf: () => ({ request: 1_000, answer: 2_000 }),
    maxQueue: 20_000,
  });
  return {
    unary: (request) => client.post(request),
    coalesced,
    async close() {
      await coalesced.close();
      client.close();
    },
  };
}

export function transferMessage(orgId: string, fromWalletId: string, toWalletId: string): PostRequest {
  return {
    context: { orgId, requestId: newId("req"), traceparent: "" },
    requestId: newId("trf"),
    metadata: {},
    intent: {
      $case: "transfer",
      value: {
        fromWalletId,
        toWalletId,
        toAddress: ZERO_ADDRESS,
        amountWon: "10",
        dailyLimitWon: DAILY_LIMIT.toString(),
      },
    },
  };
}
