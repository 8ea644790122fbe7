export { bigNumber, jsonOption, limitOption, organisationId, time, wholeNumber } from "./options";
export { lines, print, table } from "./print";
export {
  CouldNotRun,
  openWorld,
  Refusal,
  runCommands,
  TERMINAL,
  type ExitCode,
  type Terminal,
  type World,
} from "./runCommands";
export { uninterrupted } from "./uninterrupted";
export { PATIENCE_MS, untilDone } from "./untilDone";
export { withDatabase } from "./withDatabase";
