import { styleText } from "node:util";
import { readConfig } from "../config";
import { examine, type Finding } from "../doctor";
import { homeAt, type Home } from "../home";
import { readLauncher, type Launcher } from "../launcherFile";
import { readText } from "../privateFile";
import type { KnownProcess } from "../process/fingerprint";
import { memoryOf, memoryOfTree } from "../process/memory";

const MARKS = { good: ["✔", "green"], worse: ["•", "yellow"], bad: ["✘", "red"] } as const;

/** Lists missing tools with their remedy, and the tools of a running stack. Exits with 1 when `make up` cannot work. */
export async function doctor(): Promise<number> {
  const config = readConfig();
  const home = homeAt(config.home);
  const launcher = readLauncher(home.launcherFile);
  const findings = await examine(config, launcher !== undefined);
  const color = process.stdout.isTTY && config.color;
  for (const finding of findings) process.stdout.write(describe(finding, color));
  process.stdout.write(launcher ? describeMemory(launcher, home) : `\nNo stack is running in ${home.dir}.\n`);
  return findings.some(({ verdict }) => verdict === "bad") ? 1 : 0;
}

function describe({ name, verdict, text, fix }: Finding, color: boolean): string {
  const [mark, style] = MARKS[verdict];
  const line = `${color ? styleText(style, mark, { validateStream: false }) : mark} ${name.padEnd(10)} ${text}\n`;
  return fix === undefined ? line : `${line}             fix: ${fix}\n`;
}

function describeMemory({ pid }: Launcher, { processesFile, dir }: Home): string {
  const processes = JSON.parse(readText(processesFile) ?? "[]") as KnownProcess[];
  const rows = [
    { name: "launcher", bytes: memoryOf(pid) },
    ...processes.map((process) => ({ name: process.name, bytes: memoryOfTree(process.pid) })),
  ];
  const lines = rows.map(({ name, bytes }) => `  ${name.padEnd(14)} ${mebibytes(bytes)}\n`);
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  return `\nMemory of the stack in ${dir}\n${lines.join("")}  ${"all".padEnd(14)} ${mebibytes(total)}\n`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`.padStart(9);
}
