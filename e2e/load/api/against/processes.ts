import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const TICKS_PER_SECOND = 100;

interface ProcessRow {
  pid: number;
  parent: number;
  /** Processor seconds, including ended children. */
  seconds: number;
  name: string;
}

/** A process and all its descendants. */
function processTree(root: number): ProcessRow[] {
  const rows = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => readProcess(Number(entry)));
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  const tree = rows.filter(({ pid }) => pid === root);
  for (let index = 0; index < tree.length; index += 1) tree.push(...(children.get(tree[index]!.pid) ?? []));
  return tree;
}

/** Processor seconds by kind of process, for example "payment" or "postgres". */
export function processorSeconds(root: number): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { name, seconds: used } of processTree(root)) seconds.set(name, (seconds.get(name) ?? 0) + used);
  return seconds;
}

/** The kind of the chain node. */
const CHAIN_NODE = "chain node";

/**
 * Sends the signal to all processes of the tree but the chain node, or to those of one kind. Parents
 * stop before their children and continue after them, so that no parent sees a child that does not
 * answer. A chain node that was stopped sometimes makes no block for a minute.
 */
export function signalTree(root: number, signal: "SIGSTOP" | "SIGCONT", kind?: string): void {
  const tree = processTree(root).filter(({ name }) =>
    kind === undefined ? name !== CHAIN_NODE : name === kind,
  );
  const pids = tree.map(({ pid }) => pid);
  for (const pid of signal === "SIGSTOP" ? pids : pids.toReversed()) {
    try {
      process.kill(pid, signal);
    } catch {
      continue; // The process has ended.
    }
  }
}

function readProcess(pid: number): ProcessRow[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    const name = nameOf(command, readlinkSync(`/proc/${pid}/cwd`));
    return [{ pid, parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND, name }];
  } catch {
    return []; // The process has ended.
  }
}

/** A service runs in its own folder, and its command does not name it. */
function nameOf(command: string, folder: string): string {
  if (/^postgres:|\/postgres /.test(command)) return "postgres";
  if (/kafka\.Kafka|java/.test(command)) return "kafka";
  if (/anvil/.test(command)) return CHAIN_NODE;
  const service = /services\/([a-z-]+)$|\/(gateway)$/.exec(folder);
  return service?.[1] ?? service?.[2] ?? "launcher";
}
