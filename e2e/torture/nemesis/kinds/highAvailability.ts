import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type HaNode, type HaSet } from "@wonrail/local/ha/haSet";
import { runCommand } from "@wonrail/local/process/runCommand";
import { openDatabase, rawSql, sql } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { pick } from "@wonrail/kit/testing/random";
import { BALLAST, healSet } from "../../world/haPostgres";
import { type Fault, type RunningFault } from "../fault";

/** Longer than a failover, so that the old leader comes back to a new one. */
const HOLD_MS = [25_000, 30_000] as const;
/** Enough log files for every prepared one. */
const MAX_LOG_FILES = 40;
const SWITCH_LOG = "select pg_logical_emit_message(false, 'disk', 'full'), pg_switch_wal()";

/** Faults of a set of PostgreSQL servers. */
export const HA_FAULTS: readonly Fault[] = [
  onSet("leader-lost", HOLD_MS, async (ha) => {
    const leader = await ha.leader();
    await leader.kill();
    return { detail: leader.name, end: async () => undefined };
  }),
  onSet("leader-paused", HOLD_MS, async (ha) => {
    const leader = await ha.leader();
    const writes = await prepareWrites(ha, leader);
    leader.machine.signal("SIGSTOP");
    return {
      detail: leader.name,
      async end() {
        leader.machine.signal("SIGCONT");
        await writes.attempt();
        await writes.verify();
      },
    };
  }),
  onSet("leader-cut", HOLD_MS, async (ha) => {
    const leader = await ha.leader();
    const writes = await prepareWrites(ha, leader);
    leader.machine.cut();
    const attempts = [writes.attempt()];
    return {
      detail: leader.name,
      async end() {
        attempts.push(writes.attempt());
        await Promise.all(attempts);
        leader.machine.join();
        await writes.verify();
      },
    };
  }),
  onSet("leader-moved", [1_000, 3_000], async (ha) => {
    const { name } = await ha.leader();
    const moving = ha.switchOver();
    moving.catch(() => undefined);
    return { detail: `from ${name}`, end: () => moving };
  }),
  onSet("replica-lost", [5_000, 10_000], async (ha, random) => {
    const leader = await ha.leader();
    const replica = pick(
      random,
      ha.nodes.filter((node) => node !== leader),
    );
    await replica.kill();
    return { detail: replica.name, end: async () => undefined };
  }),
  onSet("etcd-lost", HOLD_MS, async (ha) => {
    await ha.etcd.kill();
    return { detail: "all members", end: async () => undefined };
  }),
  onSet("leader-disk-full", HOLD_MS, async (ha) => {
    const leader = await ha.leader();
    const file = join(leader.machine.disk, BALLAST);
    await runCommand("/bin/sh", ["-c", 'cat /dev/zero > "$0"', file]);
    const using = useUpLog(leader);
    return { detail: leader.name, end: () => using };
  }),
];

/** All of them share the servers, so one ends before the next one begins. */
function onSet(
  name: string,
  holdMs: readonly [number, number],
  begin: (ha: HaSet, random: () => number) => Promise<RunningFault>,
): Fault {
  return {
    ...{ name, holdMs, touches: "postgres" },
    isPossible: ({ postgres }) => postgres.ha !== undefined,
    async begin({ postgres: { ha } }, random) {
      const { detail, end } = await begin(ha!, random);
      return {
        detail,
        async end() {
          await end();
          await healSet(ha!);
        },
      };
    },
  };
}

/** Switches to the next log file until there is no room for one, which crashes PostgreSQL. */
async function useUpLog(leader: HaNode): Promise<void> {
  for (let files = 0; files < MAX_LOG_FILES; files += 1) if (!(await leader.execute(SWITCH_LOG))) return;
  throw new Error("the full disk had room for the log");
}

interface Writes {
  /** Writes a row on the old leader itself. */
  attempt(): Promise<void>;
  /** Throws if the old leader acknowledged a row that the set has lost. */
  verify(): Promise<void>;
}

async function prepareWrites(ha: HaSet, oldLeader: HaNode): Promise<Writes> {
  const acknowledged: string[] = [];
  await onLeader(ha, (db) => db.run(rawSql("create table if not exists ha_writes (id text primary key)")));
  return {
    async attempt() {
      const id = randomUUID();
      if (await oldLeader.execute(`insert into ha_writes values ('${id}')`)) acknowledged.push(id);
    },
    async verify() {
      await healSet(ha);
      const rows = await onLeader(ha, (db) =>
        db.query<{ id: string }>(sql`select id from ha_writes where id = any(${acknowledged})`),
      );
      const lost = acknowledged.length - rows.length;
      if (lost > 0) throw new Error(`${oldLeader.name} acknowledged ${lost} writes that are lost`);
    },
  };
}

async function onLeader<T>(
  { adminUrl }: HaSet,
  work: (db: ReturnType<typeof openDatabase>) => Promise<T>,
): Promise<T> {
  const options = { schema: "public", applicationName: "nemesis", max: 1, log: testLog() };
  const db = openDatabase({ ...options, url: adminUrl });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
