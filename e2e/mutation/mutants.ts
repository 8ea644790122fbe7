/** A change of the source that Stryker tried. */
export interface Mutant {
  file: string;
  line: number;
  mutator: string;
  original: string;
  replacement: string;
  status: "Killed" | "Timeout" | "Survived" | "NoCoverage" | "Ignored" | "CompileError" | "RuntimeError";
}

interface Place {
  /** Both count from 1. */
  line: number;
  column: number;
}

/** The part of Stryker's JSON report that this reads. */
interface Report {
  files: Record<
    string,
    {
      source: string;
      mutants: {
        mutatorName: string;
        replacement: string;
        status: Mutant["status"];
        location: { start: Place; end: Place };
      }[];
    }
  >;
}

export function readMutants(reportText: string): Mutant[] {
  const { files } = JSON.parse(reportText) as Report;
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map(({ mutatorName, replacement, status, location: { start, end } }) => ({
      ...{ file, line: start.line, mutator: mutatorName, status },
      original: inOneLine(source.slice(offsetOf(source, start), offsetOf(source, end))),
      replacement: inOneLine(replacement),
    })),
  );
}

/** Killed mutants of all that a test could have killed. A test that no longer ends kills, too. */
export function scoreOf(mutants: Mutant[]): number {
  const killed = countOf(mutants, ["Killed", "Timeout"]);
  return killed / (killed + countOf(mutants, ["Survived", "NoCoverage"]));
}

export function countOf(mutants: Mutant[], statuses: Mutant["status"][]): number {
  return mutants.filter(({ status }) => statuses.includes(status)).length;
}

function offsetOf(source: string, { line, column }: Place): number {
  const before = source.split("\n").slice(0, line - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
