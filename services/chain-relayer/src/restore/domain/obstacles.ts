/** The state of the books after a restore. */
export interface RestoredBooks {
  /** The chain's newest final block when the restore was prepared. */
  finalBlock: bigint;
  preparedAt: Date;
  /** The block of the last complete comparison, and its end. Null before the first. */
  comparedBlock: bigint | null;
  comparedAt: Date | null;
  /** Drifts that no operator has acknowledged. */
  openDrifts: number;
  /** Operations that an operator must end. */
  undecided: number;
}

/** The reasons why settlement may not go on yet, each with its remedy. */
export function findObstacles(books: RestoredBooks): string[] {
  const { finalBlock, preparedAt, comparedBlock, comparedAt, openDrifts, undecided } = books;
  const obstacles: string[] = [];
  const isCompared =
    comparedBlock !== null && comparedBlock >= finalBlock && comparedAt !== null && comparedAt > preparedAt;
  if (!isCompared)
    obstacles.push(`The books are not compared up to block ${finalBlock} yet. Wait for the next comparison.`);
  if (openDrifts > 0)
    obstacles.push(`${openDrifts} differences are not acknowledged. Explain each of them: drift ack.`);
  if (undecided > 0) obstacles.push(`${undecided} operations wait for an operator: operation end.`);
  return obstacles;
}
