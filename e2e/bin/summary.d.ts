export interface SkippedTest {
  file: string;
  test: string;
}
export interface Counts {
  passed: number;
  failed: number;
  skipped: SkippedTest[];
  problem?: string;
}
export interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}
export function commandResult(exitCode: number): Counts;
export function jestResult(exitCode: number, report: JestReport | undefined): Counts;
export function withoutSkips(result: Counts): Counts;
export function skippedLines(results: Counts[], reasons: string[], root: string): string[];
export function totalLine(results: Counts[]): string;
export function stageLine(result: Counts & { name: string; durationMs: number }): string;
