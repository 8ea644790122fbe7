import { rawSql, sql, tx, type Database, type Queryable, type Sql } from "../db";

/** A node of a plan, as EXPLAIN writes it. */
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

/**
 * The tables that a statement of the work reads from end to end: by a sequential scan, or by an
 * index without a condition and without a limit. Sequential scans are planned only where no index
 * can serve, so small test tables show the plans of large ones.
 */
export function wholeScans(db: Database, work: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  return tx(db, async (tx) => {
    await tx.run(rawSql("set local enable_seqscan = off"));
    const scanned = new Set<string>();
    const explain = async (statement: Sql): Promise<void> => {
      const { "QUERY PLAN": plans } = await tx.one<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
        sql`explain (format json) ${statement}`,
      );
      for (const { Plan } of plans) for (const table of scansOf(Plan)) scanned.add(table);
    };
    const explained: Queryable = {
      query: async (statement) => (await explain(statement), tx.query(statement)),
      one: async (statement) => (await explain(statement), tx.one(statement)),
      maybe: async (statement) => (await explain(statement), tx.maybe(statement)),
      run: async (statement) => (await explain(statement), tx.run(statement)),
      write: async (statement) => (await explain(statement), tx.write(statement)),
    };
    await work(explained);
    return [...scanned].sort();
  });
}

interface Place {
  /** A limit above ends the scan early. */
  isLimited: boolean;
  /** The table of the node above, which an index's bitmap serves. */
  table: string | undefined;
}

function scansOf(node: PlanNode, place: Place = { isLimited: false, table: undefined }): string[] {
  const { "Node Type": type, "Relation Name": table = place.table, "Index Cond": condition, Plans = [] } = node;
  const isLimited = (place.isLimited && !READS_ALL.has(type)) || type === "Limit";
  const isWhole = type === "Seq Scan" || (INDEX.has(type) && condition === undefined && !isLimited);
  const own = isWhole && table !== undefined ? [table] : [];
  const below = type === "Bitmap Heap Scan" ? table : undefined;
  return [...own, ...Plans.flatMap((plan) => scansOf(plan, { isLimited, table: below }))];
}

const INDEX = new Set(["Index Scan", "Index Only Scan", "Bitmap Index Scan"]);
/** Nodes that read all of their input before the first row leaves them. */
const READS_ALL = new Set(["Sort", "Aggregate", "Hash", "Hash Join", "Bitmap Heap Scan"]);
