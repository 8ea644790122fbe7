import { type Advance, type SandboxClock, type SandboxClocks } from "./contract/sandboxClock";
import { named, type Queryable, type Sql, sql, type Tx } from "./db";

// The stored test clocks of the sandbox: contract/sandboxClock.ts says what they mean.

export async function findClocks(db: Queryable, orgIds: readonly string[]): Promise<SandboxClocks> {
  const rows = await db.query<{ org_id: string; offset_ms: bigint; advanced_at: Date }>(
    named(
      "sandbox_clocks",
      sql`
        select org_id, offset_ms, advanced_at from sandbox_clocks
        where org_id = any(${[...orgIds]}::text[]) order by org_id, offset_ms`,
    ),
  );
  const clocks = new Map<string, Advance[]>();
  for (const { org_id: orgId, offset_ms: offsetMs, advanced_at: at } of rows) {
    const advances = clocks.get(orgId) ?? [];
    advances.push({ atMs: at.getTime(), offsetMs: Number(offsetMs) });
    clocks.set(orgId, advances);
  }
  return clocks;
}

/** How far the organisation's clock is ahead now. */
export async function findOffsetMs(db: Queryable, orgId: string): Promise<number> {
  const { offset_ms: offsetMs } = await db.one<{ offset_ms: bigint }>(
    sql`select coalesce(max(offset_ms), 0) as offset_ms from sandbox_clocks where org_id = ${orgId}`,
  );
  return Number(offsetMs);
}

/** The same, and the clock stays until the transaction ends. */
export async function lockOffsetMs(tx: Tx, orgId: string): Promise<number> {
  await tx.query(sql`select pg_advisory_xact_lock_shared(${lockNumber(orgId)})`);
  return findOffsetMs(tx, orgId);
}

/**
 * Moves the clock forward and returns by how much. A clock never goes back, so a repetition returns
 * 0. Changes of one clock take turns until the transaction ends.
 */
export async function advanceClock(tx: Tx, { orgId, offsetMs }: SandboxClock): Promise<number> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockNumber(orgId)})`);
  const beforeMs = await findOffsetMs(tx, orgId);
  if (offsetMs <= beforeMs) return 0;
  await tx.run(sql`insert into sandbox_clocks (org_id, offset_ms) values (${orgId}, ${offsetMs})`);
  return offsetMs - beforeMs;
}

function lockNumber(orgId: string): Sql {
  return sql`hashtextextended(${`sandbox clock ${orgId}`}, 0)`;
}
