import { join } from "node:path";
import { shrinkSchedule } from "./checker";
import { describeSchedule, type ScheduledFault } from "./nemesis/schedule";
import { isSound, type RunResult } from "./result";
import { run } from "./run";
import { commandOf, type RunOptions } from "./runOptions";

/** Repeats a failed run with parts of its schedule. Returns the shortest failing part as text. */
export async function shrinkRun(options: RunOptions, failed: RunResult, maxRuns: number): Promise<string> {
  const { folder, report } = options;
  let number = 0;
  const fails = async (schedule: ScheduledFault[]): Promise<boolean> => {
    number += 1;
    report(`run ${number} with ${schedule.length} of ${failed.schedule.length} faults`);
    const part = { ...options, prefix: schedule.length, folder: join(folder, `shrink-${number}`) };
    const isFailing = !isSound(await run(part));
    report(`run ${number} ${isFailing ? "failed" : "passed"}`);
    return isFailing;
  };
  const { schedule, isReproduced, isShortest } = await shrinkSchedule(failed.schedule, fails, { maxRuns });
  if (!isReproduced) return "the whole schedule did not fail again: no part of it was removed";
  return [
    `the shortest ${isShortest ? "" : "known "}failing part of the schedule has ${schedule.length} faults`,
    ...(schedule.length === 0 ? [] : [describeSchedule(schedule)]),
    `  again: ${commandOf({ ...options, prefix: schedule.length })}`,
  ].join("\n");
}
