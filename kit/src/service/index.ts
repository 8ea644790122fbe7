export { callersOf } from "./callers";
export { type ServiceConfig, serviceRules, serviceShape } from "./config";
export { type Job, startJobs } from "./jobs";
export { type Doors, type ReadOwnTopic, type ServiceParts, type ServiceSpec, runService } from "./runService";
