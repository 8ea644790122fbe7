import { type Operation } from "../operations";

/** The earliest and the latest time of a place in the ledger's order of an organisation. */
export type Bounds = (organisation: string, sequence: number) => { from: number; until: number };

/**
 * A change comes after the call of every operation before it in the ledger's order, and before the
 * answer of every operation behind it.
 */
export function boundsBySequence(
  operations: Operation[],
  { sequenceOf }: { sequenceOf?: (operation: Operation) => number | undefined },
): Bounds {
  const ordered = new Map<string, { sequence: number; calledAt: number; answeredAt: number }[]>();
  for (const operation of operations) {
    const { organisation, invokedAt: calledAt, outcome } = operation;
    const sequence = sequenceOf?.(operation);
    if (sequence === undefined) continue;
    const places = ordered.get(organisation) ?? [];
    places.push({ sequence, calledAt, answeredAt: outcome?.at ?? Infinity });
    ordered.set(organisation, places);
  }
  for (const places of ordered.values()) {
    places.sort((one, other) => one.sequence - other.sequence);
    for (let index = 1; index < places.length; index += 1)
      places[index]!.calledAt = Math.max(places[index]!.calledAt, places[index - 1]!.calledAt);
    for (let index = places.length - 2; index >= 0; index -= 1)
      places[index]!.answeredAt = Math.min(places[index]!.answeredAt, places[index + 1]!.answeredAt);
  }
  return (organisation, sequence) => {
    const places = ordered.get(organisation) ?? [];
    const behind = firstBehind(places, sequence);
    const isAt = places[behind - 1]?.sequence === sequence;
    return {
      from: places[behind - (isAt ? 2 : 1)]?.calledAt ?? 0,
      until: places[behind]?.answeredAt ?? Infinity,
    };
  };
}

/** The index of the first place with a greater sequence. */
function firstBehind(places: { sequence: number }[], sequence: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]!.sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
