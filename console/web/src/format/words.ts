/** "DEAD_LETTER_STATE_REPLAY_REQUESTED" without its prefix is "replay requested". */
export function enumWords(value: string | undefined, prefix = ""): string {
  if (value === undefined) return "—";
  const name = value.startsWith(prefix) ? value.slice(prefix.length) : value;
  return name.toLowerCase().replaceAll("_", " ");
}

/** "wonrail.relayer.v1.RelayerAdminService/PauseQueue" is "Pause queue". */
export function methodWords(method: string): string {
  const name = method.slice(method.lastIndexOf("/") + 1);
  const words = name.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words === "" ? method : words;
}
