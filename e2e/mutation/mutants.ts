/** A change of the source that Stryker tried. */
export interface Mutant {
  file: string;
  line: number;
  mutator: string;
  original: string;
  replacement: string;
  /** The last argument of `assert`, as in `assert(wallet, "was not loaded")`. */
  isAssertionText: boolean;
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
    mutants.map(({ mutatorName, replacement, status, location: { start, end } }) => {
      const original = inOneLine(source.slice(offsetOf(source, start), offsetOf(source, end)));
      const line = source.split("\n")[start.line - 1]!.trim();
      return {
        ...{ file, line: start.line, mutator: mutatorName, status, original },
        replacement: inOneLine(replacement),
        isAssertionText: line.startsWith("assert(") && line.endsWith(`, ${original});`),
      };
    }),
  );
}

/** A mutant is killed by a test that fails, that no longer ends, or whose file no longer loads. */
export function isKilled({ status }: Mutant): boolean {
  return status === "Killed" || status === "Timeout" || status === "RuntimeError";
}

export function isSurvivor({ status }: Mutant): boolean {
  return status === "Survived" || status === "NoCoverage";
}

function offsetOf(source: string, { line, column }: Place): number {
  const before = source.split("\n").slice(0, line - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
