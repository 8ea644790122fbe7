import { readFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Result } from "../report";

interface Snapshot {
  single: Record<string, number>;
  batch100: Record<string, number>;
}

/** The contracts' gas snapshot, which a test of theirs compares with a node. */
export function gasSection(): Result[] {
  const path = join(__dirname, "../../../contracts/gas.json");
  const { single, batch100 } = JSON.parse(readFileSync(path, "utf8")) as Snapshot;
  const one = single["transfer, straight at the token"]!;
  const hundred = batch100["payment, 200 wallets"]!;
  return [
    atMost("gas.single", one, "gas", 52_000, "a transfer by authorization, all in"),
    atMost("gas.batch100", hundred, "gas each", 27_000, "100 payments among 200 wallets in one transaction"),
  ];
}
