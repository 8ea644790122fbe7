/** Number of findings for each top-level folder and kind. */
export type Counts = Record<string, Record<string, number>>;

export interface Excess {
  folder: string;
  kind: string;
  count: number;
  ceiling: number;
}

export function findExcess(counts: Counts, ceilings: Counts): Excess[] {
  return compare(counts, ceilings).filter(({ count, ceiling }) => count > ceiling);
}

/** Ceilings that can be lowered, because the count sank. */
export function findSlack(counts: Counts, ceilings: Counts): Excess[] {
  return compare(counts, ceilings).filter(({ count, ceiling }) => count < ceiling);
}

/** Lowers every ceiling to its count and never raises one. */
export function lowerCeilings(counts: Counts, ceilings: Counts): Counts {
  const lowered: Counts = {};
  for (const { folder, kind, count, ceiling } of compare(counts, ceilings)) {
    const limit = Math.min(count, ceiling);
    if (limit > 0) lowered[folder] = { ...lowered[folder], [kind]: limit };
  }
  return lowered;
}

function compare(counts: Counts, ceilings: Counts): Excess[] {
  const folders = [...new Set([...Object.keys(counts), ...Object.keys(ceilings)])].sort();
  return folders.flatMap((folder) => {
    const kinds = new Set([...Object.keys(counts[folder] ?? {}), ...Object.keys(ceilings[folder] ?? {})]);
    return [...kinds].sort().map((kind) => ({
      folder,
      kind,
      count: counts[folder]?.[kind] ?? 0,
      ceiling: ceilings[folder]?.[kind] ?? 0,
    }));
  });
}
