export { configProblems } from "./configProblems";
export { eventually } from "./eventually";
export { recordTerminal } from "./recordTerminal";
export { startProxy, type Proxy, type ProxyMode, type ProxyOptions } from "./proxy";
export { rowsRead } from "./rowsRead";
export {
  createTestDatabase,
  openTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
} from "./testDatabase";
export { testLog } from "./testLog";
export { testRegistry } from "./testRegistry";
