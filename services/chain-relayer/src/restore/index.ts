// A restore of the databases: pauses settlement, names what must be explained, and lets settlement
// go on.

export { prepareRestore, type PrepareDeps } from "./commands/prepareRestore";
export { resumeAfterRestore } from "./commands/resumeAfterRestore";
export { getRestore } from "./queries/getRestore";
export { type Restore } from "./store/restores";
