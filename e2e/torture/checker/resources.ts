import { type Observed, type Sample } from "./facts";
import { type Violation } from "./violation";

const MIB = 2 ** 20;
/** How much more than at the start each use may be at the end. */
const ALLOWED: Record<keyof Omit<Sample, "process" | "phase">, (start: number) => number> = {
  residentBytes: (start) => start * 1.5 + 64 * MIB,
  // A stand-by that became the active writer keeps more sessions and sockets.
  fileDescriptors: (start) => start + 40,
  databaseConnections: (start) => start + 4,
};

/** Memory, descriptors and connections of each process return to their start. */
export function checkResources({ samples }: Pick<Observed, "samples">): Violation[] {
  const starts = new Map(samples.filter(({ phase }) => phase === "start").map((one) => [one.process, one]));
  const ends = samples.filter(({ phase }) => phase === "end");
  return ends.flatMap((end) => {
    const start = starts.get(end.process);
    if (!start) return [];
    return (Object.keys(ALLOWED) as (keyof typeof ALLOWED)[])
      .filter((use) => end[use] > ALLOWED[use](start[use]))
      .map((use) => ({
        ...{ check: "resources", organisation: "all", operations: [] },
        message: `${end.process} has ${end[use]} ${use} at the end and ${start[use]} at the start`,
      }));
  });
}
