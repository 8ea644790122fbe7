import { type Terminal } from "../command/runCommands";

/** A terminal, and what a command says on it. */
export function hearTerminal(): { terminal: Terminal; said: { out: string; err: string } } {
  const said = { out: "", err: "" };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  return { terminal, said };
}
