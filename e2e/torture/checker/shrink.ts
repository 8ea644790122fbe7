/** Says whether a run with this schedule fails. A run may be costly. */
export type Fails<T> = (schedule: T[]) => Promise<boolean>;

export interface Shrunk<T> {
  schedule: T[];
  /** False: the whole schedule did not fail again, so nothing was removed. */
  isReproduced: boolean;
  runs: number;
}

/**
 * Finds the shortest failing prefix of a failing schedule by bisection. Faults are not
 * deterministic: a prefix passes only if it passes `confirmations` times.
 */
export async function shrinkSchedule<T>(
  schedule: T[],
  fails: Fails<T>,
  confirmations = 2,
): Promise<Shrunk<T>> {
  let runs = 0;
  const doesFail = async (length: number): Promise<boolean> => {
    for (let attempt = 0; attempt < confirmations; attempt += 1) {
      runs += 1;
      if (await fails(schedule.slice(0, length))) return true;
    }
    return false;
  };

  if (!(await doesFail(schedule.length))) return { schedule, isReproduced: false, runs };
  let [passing, failing] = [-1, schedule.length];
  while (failing - passing > 1) {
    const middle = (passing + failing) >> 1;
    if (await doesFail(middle)) failing = middle;
    else passing = middle;
  }
  return { schedule: schedule.slice(0, failing), isReproduced: true, runs };
}
