import { type Terminal } from "../command/runCommands";

/** A terminal that records a command's output. */
export function hearTerminal(): { terminal: Terminal; said: { out: string; err: string } } {
  const said = { out: "", err: "" };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  return { terminal, said };
}
