export interface Counts {
  passed: number;
  failed: number;
  problem?: string;
}
export interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
}
export function commandResult(exitCode: number): Counts;
export function jestResult(exitCode: number, report: JestReport | undefined): Counts;
export function totalLine(results: Counts[]): string;
export function stageLine(result: Counts & { name: string; durationMs: number }): string;
