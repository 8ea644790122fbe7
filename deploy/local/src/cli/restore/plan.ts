import { table } from "@wonrail/kit/command";
import { type Drift, type Restore } from "@wonrail/proto/relayer/v1/admin";
import { differenceRow, MOST_DIFFERENCES } from "./differences";
import { type FeedReading, readFeeds } from "./feeds";
import { withRelayer, type World } from "./clients";

/** The state after a restore, before `restore prepare`. */
export interface Plan {
  /** Absent while no restore is under way. */
  restore: Restore | undefined;
  finalBlock: bigint;
  readBlock: bigint | undefined;
  feeds: FeedReading[];
  differences: Drift[];
}

export async function readPlan(world: World): Promise<Plan> {
  const { restore, finalBlock, readBlock, differences } = await withRelayer(world, (relayer, operator) =>
    relayer.getRestore({ operator, limit: MOST_DIFFERENCES }),
  );
  return { restore, finalBlock, readBlock, feeds: await readFeeds(world), differences };
}

export function describePlan({ restore, finalBlock, readBlock, feeds, differences }: Plan): string[] {
  const unread = finalBlock - (readBlock ?? 0n);
  return [
    restore ? `Restore ${restore.restoreId} is under way: ${restore.reason}.` : "No restore is under way.",
    `Chain: block ${finalBlock} is final, and chain-relayer has ${unread} blocks to read.`,
    "",
    "Feeds and their consumers. A negative number behind: the consumer knows events that a restore lost.",
    ...table(feeds),
    "",
    "Differences that are known now:",
    ...table(differences.map(differenceRow)),
    "",
    ...(restore ? [] : NEXT),
  ];
}

const NEXT = [
  "restore prepare would:",
  "  1. pause the settlement of all organisations;",
  "  2. let each organisation go on with key indexes that no lost wallet has.",
];
