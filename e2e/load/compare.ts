/** The median, so that one disturbed round does not decide. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export interface Compared {
  /** The median of the rounds' ratios of the first to the second. */
  ratio: number;
  first: number;
  second: number;
}

/** Measures two things in turn, so that both get an equal share of disturbances. */
export async function compare(
  rounds: number,
  first: () => Promise<number>,
  second: () => Promise<number>,
): Promise<Compared> {
  const pairs: [number, number][] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push(round % 2 === 0 ? [await first(), await second()] : swap([await second(), await first()]));
  }
  return {
    ratio: median(pairs.map(([a, b]) => a / b)),
    first: median(pairs.map(([a]) => a)),
    second: median(pairs.map(([, b]) => b)),
  };
}

function swap([a, b]: [number, number]): [number, number] {
  return [b, a];
}
