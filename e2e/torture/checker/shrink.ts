/** Says whether a run with this schedule fails. A run may be costly. */
export type Fails<T> = (schedule: T[]) => Promise<boolean>;

interface ShrinkOptions {
  /** Faults are not deterministic: a prefix passes only if it passes so often. */
  confirmations?: number;
  maxRuns?: number;
}

export interface Shrunk<T> {
  schedule: T[];
  /** False: the whole schedule did not fail again, so nothing was removed. */
  isReproduced: boolean;
  /** False: a shorter prefix may fail too, because the runs were used up. */
  isShortest: boolean;
  runs: number;
}

/** Finds the shortest failing prefix of a failing schedule by bisection. */
export async function shrinkSchedule<T>(
  schedule: T[],
  fails: Fails<T>,
  { confirmations = 2, maxRuns = Infinity }: ShrinkOptions = {},
): Promise<Shrunk<T>> {
  let runs = 0;
  /** Undefined: no run is left. */
  const doesFail = async (length: number): Promise<boolean | undefined> => {
    for (let attempt = 0; attempt < confirmations; attempt += 1) {
      if (runs >= maxRuns) return undefined;
      runs += 1;
      if (await fails(schedule.slice(0, length))) return true;
    }
    return false;
  };

  if (!(await doesFail(schedule.length))) return { schedule, isReproduced: false, isShortest: false, runs };
  let [passing, failing] = [-1, schedule.length];
  while (failing - passing > 1) {
    const middle = (passing + failing) >> 1;
    const isFailing = await doesFail(middle);
    if (isFailing === undefined) break;
    if (isFailing) failing = middle;
    else passing = middle;
  }
  const isShortest = failing - passing === 1;
  return { schedule: schedule.slice(0, failing), isReproduced: true, isShortest, runs };
}
