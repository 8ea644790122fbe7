import { closeSync, existsSync, openSync, readSync, readdirSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readConfig } from "../config";
import { homeAt } from "../home";
import { lastLines } from "../process/lastLines";

const POLL_MS = 250;
const LINES = 20;
const CHUNK_BYTES = 256 * 1024;

/** Shows the last lines of every log, or of one, and then each new line as it comes. */
export async function logs(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { "no-follow": { type: "boolean" } },
  });
  const home = homeAt(readConfig().home);
  const all = existsSync(home.logsDir)
    ? readdirSync(home.logsDir).filter((file) => file.endsWith(".log"))
    : [];
  const names = all.map((file) => file.replace(/\.log$/, ""));
  const wanted = positionals[0] === undefined ? names : names.filter((name) => name === positionals[0]);
  if (wanted.length === 0) {
    const log = positionals[0] === undefined ? "log" : `log ${positionals[0]}`;
    process.stderr.write(
      `There is no ${log} in ${home.logsDir}. There are: ${names.join(", ") || "none"}.\n`,
    );
    return 1;
  }
  const width = Math.max(...wanted.map((name) => name.length));
  const show = (name: string, line: string): void => {
    process.stdout.write(wanted.length === 1 ? `${line}\n` : `${name.padEnd(width)} | ${line}\n`);
  };
  const tails = wanted.map((name) => new Tail(home.log(name), (line) => show(name, line)));
  if (values["no-follow"]) return 0;
  process.once("SIGINT", () => process.exit(0));
  // The reader closed the pipe, as `head` and `grep -q` do.
  process.stdout.once("error", () => process.exit(0));
  for (;;) {
    await sleep(POLL_MS);
    for (const tail of tails) tail.read();
  }
}

/** Follows one file by whole lines, also across a rotation. */
class Tail {
  #file: string;
  #onLine: (line: string) => void;
  #offset: number;

  constructor(file: string, onLine: (line: string) => void) {
    this.#file = file;
    this.#onLine = onLine;
    this.#offset = statSync(file).size;
    lastLines(file, LINES).forEach(onLine);
  }

  read(): void {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#offset) this.#offset = 0;
    if (size === this.#offset) return;
    const buffer = Buffer.alloc(Math.min(size - this.#offset, CHUNK_BYTES));
    const descriptor = openSync(this.#file, "r");
    const length = readSync(descriptor, buffer, 0, buffer.length, this.#offset);
    closeSync(descriptor);
    // A line longer than a chunk is printed in pieces; others wait for their end.
    const end = buffer.lastIndexOf("\n", length - 1) + 1 || (length === CHUNK_BYTES ? length : 0);
    this.#offset += end;
    const lines = buffer.toString("utf8", 0, end).split("\n");
    lines.filter((line) => line !== "").forEach(this.#onLine);
  }
}
