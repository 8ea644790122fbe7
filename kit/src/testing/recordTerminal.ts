import { type Terminal } from "../command/runCommands";

/** A terminal that records a command's output. */
export function recordTerminal(): { terminal: Terminal; output: { out: string; err: string } } {
  const output = { out: "", err: "" };
  const terminal = {
    out: (text: string) => void (output.out += text),
    err: (text: string) => void (output.err += text),
  };
  return { terminal, output };
}
