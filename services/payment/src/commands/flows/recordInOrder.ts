import { type Input } from "../../domain/operation";
import { type Posted, type Recorded } from "./flow";

/** One after the other, in the order of the rows that they change: two processes wait for each other instead of in a circle. */
export async function recordInOrder<I extends Input>(
  posted: Posted<I>[],
  rowOf: (one: Posted<I>) => string,
  record: (one: Posted<I>) => Promise<Recorded>,
): Promise<Recorded[]> {
  const recorded = new Map<Posted<I>, Recorded>();
  const inOrder = [...posted].sort((one, other) => compare(rowOf(one), rowOf(other)));
  for (const one of inOrder) recorded.set(one, await record(one));
  return posted.map((one) => recorded.get(one)!);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
