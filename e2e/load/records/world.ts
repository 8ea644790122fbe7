import { join } from "node:path";
import { type Database, openDatabase, rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createLog } from "@wonrail/kit/log";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";

const log = createLog({ service: "bench", level: "error" });
const SCHEMA = "chain_relayer";
const MIGRATIONS = join(__dirname, "../../../services/chain-relayer/migrations");

/** One organisation's records in their own database. */
export interface World {
  db: Database;
  orgId: string;
  count: number;
  close(): Promise<void>;
}

/** Equal in a small and a large world, so that only the size differs. */
const PENDING = 100;
const FAILED = 50;
const SCHEDULED = 1_000;
export const RECORDS_OF_A_SENDER = 50;
const RECORDS_OF_THE_SHOP = 10_000;

/** An address, by number. The shop is number 0. */
export function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

export function createWorld(clusterUrl: string, count: number): Promise<World> {
  return buildWorld(async (parts) => {
    const { url, adminUrl } = await parts.database({
      clusterUrl,
      schema: SCHEMA,
      migrations: MIGRATIONS,
    });
    const orgId = newId("org");
    const admin = open(adminUrl);
    await admin.run(rawSql(load(orgId, count)));
    await admin.run(rawSql(HISTORY));
    await admin.run(rawSql("vacuum (analyze) chain_relayer.records, chain_relayer.record_changes"));
    await admin.run(rawSql("checkpoint"));
    await admin.close();
    return { db: await parts.use(open(url)), orgId, count };
  });
}

/**
 * One record per second until now, in a mixed order, so that the newest of a rare kind may be far
 * away.
 */
function load(orgId: string, count: number): string {
  const pending = `i % ${count / PENDING} = 0`;
  const shop = `i % ${count / RECORDS_OF_THE_SHOP} = 0`;
  const senders = count / RECORDS_OF_A_SENDER;
  const address = (number: string) => `'0x' || lpad(to_hex(${number}), 40, '0')`;
  return `
    insert into chain_relayer.records (org_id, record_id, from_network, to_network, payment_type, from_address, to_address, tx_hash, amount,
      scheduled_at, status, run, run_at, version, request_id, traceparent, created_at, updated_at)
    select '${orgId}', 'txn_' || lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 19),
      'WON_TESTNET', 'WON_TESTNET', type, ${address(`1 + (i * 7919::bigint) % ${senders}`)},
      case when ${shop} then ${address("0")} else ${address(`1 + (i * 104729::bigint) % ${senders}`)} end,
      '0x' || md5(i::text) || md5(i::text), 1000000, case type when 'SCHEDULED' then at end, status,
      case status when 'PENDING' then 'UNATTENDED' else 'DONE' end, null, 1, 'req_1', '00', at, at
    from generate_series(1, ${count}) i,
      lateral (select now() - make_interval(secs => ${count} - i) as at,
        case when i % ${count / SCHEDULED} = 3 then 'SCHEDULED' else 'INSTANT' end as type,
        case when ${pending} then 'PENDING' when i % ${count / FAILED} = 1 then 'FAILED' else 'CONFIRMED' end as status)`;
}

/** Every record has at least its creation in the history. */
const HISTORY = `
  insert into chain_relayer.record_changes (org_id, record_id, version, status, scheduled_at, reason, changed_by, changed_at)
  select org_id, record_id, 1, 'PENDING', scheduled_at, null, 'api', created_at from chain_relayer.records`;

function open(url: string): Database {
  const limits = { max: 4, statementTimeoutMs: 600_000 };
  return openDatabase({ url, schema: SCHEMA, applicationName: "bench", log, ...limits });
}
