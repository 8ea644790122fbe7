import { chunksOf } from "@wonrail/kit/chunksOf";
import {
  type Block,
  type ChainEvent,
  decodeLog,
  isPossiblyTooLarge,
  type Outcome,
  type Provider,
  TOPICS,
  type TrackedContracts,
} from "../../evm";
import { finalBlockAt } from "./assertCanonical";

interface LookupDeps {
  provider: Provider;
  contracts: TrackedContracts;
  /** The block in which our contracts were deployed. */
  startBlock: bigint;
  signal: AbortSignal;
}

const IDS_AT_ONCE = 200;
/**
 * A too wide question may cost a whole timeout. So this many narrower answers must follow before a
 * wider question.
 */
const PARTS_BEFORE_WIDER = 16;

/**
 * A repeated operation was executed earlier: by a copy of this system, or before a restore of our
 * database. Its first event anywhere decides its settlement.
 */
export async function findFirstExecutions(
  deps: LookupDeps,
  events: ChainEvent[],
  range: { fromBlock: bigint; to: Block },
): Promise<Map<string, ChainEvent>> {
  const ids = [...new Set(events.flatMap((event) => (event.kind === "repeated" ? [event.operationId] : [])))];
  const firsts = new Map<string, ChainEvent>();
  for (const part of chunksOf(ids, IDS_AT_ONCE))
    for (const event of await findExecutions(deps, part, range)) firsts.set(event.operationId, event);
  return firsts;
}

/**
 * Searches backwards from the range, because most executions are recent. The endpoints' limits are
 * unknown: the first part is as wide as the range that they have just answered, and parts grow
 * after answers and shrink after failures.
 */
async function findExecutions(
  deps: LookupDeps,
  operationIds: string[],
  range: { fromBlock: bigint; to: Block },
): Promise<Outcome[]> {
  const found: Outcome[] = [];
  // Each operation is executed once, so found ones leave the search.
  const wanted = new Set(operationIds);
  let blocks = range.to.number - range.fromBlock + 1n;
  let narrowParts = 0;
  for (let { to } = range; ;) {
    deps.signal.throwIfAborted();
    const first = to.number - blocks + 1n;
    const fromBlock = first > deps.startBlock ? first : deps.startBlock;
    const events = await askFor(deps, [...wanted], { fromBlock, to });
    if (events) {
      found.push(...events);
      for (const { operationId } of events) wanted.delete(operationId);
      if (wanted.size === 0 || fromBlock === deps.startBlock) return found;
      to = await finalBlockAt(deps.provider, fromBlock - 1n);
      if (narrowParts > 0) narrowParts -= 1;
      else blocks *= 2n;
    } else {
      // If this also fails, the endpoint is away, and narrower questions would not help.
      await finalBlockAt(deps.provider, to.number);
      blocks = (to.number - fromBlock + 1n) / 2n;
      narrowParts = PARTS_BEFORE_WIDER;
    }
  }
}

/** Returns null when the question may be too large. */
async function askFor(
  { provider, contracts }: LookupDeps,
  operationIds: string[],
  { fromBlock, to }: { fromBlock: bigint; to: Block },
): Promise<Outcome[] | null> {
  const topics = [TOPICS.executed, operationIds.map((id) => `0x${id}`)];
  try {
    const logs = await provider.logs({ addresses: [...contracts.paymentManagers], topics, fromBlock, to });
    const events = logs.flatMap((log) => decodeLog(log, contracts) ?? []);
    return events.flatMap((event) => (event.kind === "executed" ? [event] : []));
  } catch (error) {
    if (!isPossiblyTooLarge(error) || fromBlock >= to.number) throw error;
    return null;
  }
}
