import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { SERVICES } from "@wonrail/local/services";
import { asAdmin } from "../support/asAdmin";
import { type RunFacts, type Sample, type Schema, type Webhook } from "./checker/facts";
import { type World } from "./world/openWorld";

/** Writes `run.json` beside the history: where the world can be read after the run. */
export async function writeRunFile(historyFile: string, world: World, samples: Sample[]): Promise<RunFacts> {
  const { stack, gatewayUrls, organisations } = world;
  const { rpcUrl, chainId, tokenAddress, paymentManagerAddress } = stack.chain;
  const facts: RunFacts = {
    gatewayUrls,
    organisations: organisations.map(({ id, code, apiKey }) => ({ id, code, apiKey })),
    databaseUrls: Object.fromEntries(
      SERVICES.map(({ name }) => [name, stack.postgres.urls[name]!]),
    ) as Record<Schema, string>,
    chain: { rpcUrl, chainId, tokenAddress, paymentManagerAddress },
    webhooks: await readWebhooks(world),
    samples,
  };
  writeFileSync(join(dirname(historyFile), "run.json"), `${JSON.stringify(facts, undefined, 2)}\n`, {
    mode: 0o600,
  });
  return facts;
}

function readWebhooks({ stack, organisations }: World): Promise<Webhook[]> {
  return asAdmin(stack, "events", async (db) => {
    const rows = await db.query<{
      org_id: string;
      webhook_id: string;
      event_types: string[];
      ordering: Webhook["ordering"];
    }>(sql`select org_id, webhook_id, event_types, ordering from webhooks order by org_id, webhook_id`);
    return rows.map(({ org_id, webhook_id: webhookId, event_types: eventTypes, ordering }) => {
      const organisation = organisations.find(({ id }) => id === org_id)!.code;
      return { organisation, webhookId, eventTypes, ordering };
    });
  });
}

/** The present use of resources by each process. Connections are counted per service. */
export async function sample({ stack, replicas }: World, phase: Sample["phase"]): Promise<Sample[]> {
  const connections = await asAdmin(stack, "ledger", (db) =>
    db.query<{ name: string; count: bigint }>(
      sql`select application_name as name, count(*) as count from pg_stat_activity group by application_name`,
    ),
  );
  return replicas.flatMap(({ name, service, pid: pidOf }) => {
    const pid = pidOf();
    if (pid === undefined) return [];
    const own = connections.find((one) => one.name === service);
    return [{ process: name, phase, ...usageOf(pid), databaseConnections: Number(own?.count ?? 0) }];
  });
}

function usageOf(pid: number): Pick<Sample, "residentBytes" | "fileDescriptors"> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return { residentBytes: Number(kilobytes) * 1_024, fileDescriptors: readdirSync(`/proc/${pid}/fd`).length };
}
