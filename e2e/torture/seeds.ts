import { readText } from "../ops/repository";

/** Seeds that failed once. They are always run again. */
export function readKnownSeeds(): number[] {
  return JSON.parse(readText("e2e/torture/seeds.json")) as number[];
}
