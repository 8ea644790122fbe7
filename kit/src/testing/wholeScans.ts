import { rawSql, sql, tx, type Database, type Queryable, type Sql } from "../db";

/** A node of a plan, as EXPLAIN writes it. */
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

/** A scan without a condition and without a limit. */
interface Scan {
  table: string;
  /** Undefined for a sequential scan. */
  index: string | undefined;
}

/**
 * The tables that a statement of the work reads from end to end: by a sequential scan, or by an
 * index without a condition and without a limit. A partial index has only the wanted rows, so it
 * may be read whole. Sequential scans are planned only where no index can serve, so small test
 * tables show the plans of large ones.
 */
export function wholeScans(db: Database, work: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  return tx(db, async (tx) => {
    await tx.run(rawSql("set local enable_seqscan = off"));
    const scans: Scan[] = [];
    const explain = async (statement: Sql): Promise<void> => {
      const { "QUERY PLAN": plans } = await tx.one<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
        sql`explain (format json) ${statement}`,
      );
      for (const { Plan } of plans) scans.push(...scansOf(Plan));
    };
    const explained: Queryable = {
      query: async (statement) => (await explain(statement), tx.query(statement)),
      one: async (statement) => (await explain(statement), tx.one(statement)),
      maybe: async (statement) => (await explain(statement), tx.maybe(statement)),
      run: async (statement) => (await explain(statement), tx.run(statement)),
      write: async (statement) => (await explain(statement), tx.write(statement)),
    };
    await work(explained);
    const partial = await findPartialIndexes(tx);
    const whole = scans.filter(({ index }) => index === undefined || !partial.has(index));
    return [...new Set(whole.map(({ table }) => table))].sort();
  });
}

async function findPartialIndexes(db: Queryable): Promise<Set<string>> {
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where i.indpred is not null`);
  return new Set(rows.map(({ name }) => name));
}

interface Place {
  /** A limit above ends the scan early. */
  isLimited: boolean;
  /** The table of the node above, which an index's bitmap serves. */
  table: string | undefined;
}

function scansOf(node: PlanNode, place: Place = { isLimited: false, table: undefined }): Scan[] {
  const { "Node Type": type, "Index Cond": condition, "Index Name": index, Plans = [] } = node;
  const table = node["Relation Name"] ?? place.table;
  const isLimited = (place.isLimited && !READS_ALL.has(type)) || type === "Limit";
  const isWhole = type === "Seq Scan" || (INDEX.has(type) && condition === undefined && !isLimited);
  const below = type === "Bitmap Heap Scan" ? table : undefined;
  return [
    ...(isWhole && table !== undefined ? [{ table, index }] : []),
    ...Plans.flatMap((plan) => scansOf(plan, { isLimited, table: below })),
  ];
}

const INDEX = new Set(["Index Scan", "Index Only Scan", "Bitmap Index Scan"]);
/** Nodes that read all of their input before the first row leaves them. */
const READS_ALL = new Set(["Sort", "Aggregate", "Hash", "Hash Join", "Bitmap Heap Scan"]);
