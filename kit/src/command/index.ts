export {
  bigNumber,
  jsonOption,
  limitOption,
  organisationId,
  reasonOption,
  time,
  wholeNumber,
} from "./options";
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
export { deferSignals } from "./deferSignals";
export { PATIENCE_MS, waitForService } from "./waitForService";
export { type ClientConfig, readClientConfig, type ServiceName } from "./config";
export { printProposal, proposalCommands } from "./proposalCommands";
export { withDatabase } from "./withDatabase";
export { operatorMessage, withService } from "./withService";
