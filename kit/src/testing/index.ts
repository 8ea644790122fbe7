export { configProblems } from "./configProblems";
export { eventually } from "./eventually";
export { recordTerminal } from "./recordTerminal";
export {
  type HttpAnswer,
  type HttpProxy,
  type HttpReaction,
  type ProxiedRequest,
  startHttpProxy,
} from "./proxies/httpProxy";
export { startProxy, type Proxy, type ProxyMode, type ProxyOptions } from "./proxies/proxy";
export { rowsRead } from "./rowsRead";
export {
  createTestDatabase,
  openTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
} from "./testDatabase";
export { supporter, viewer } from "./viewer";
export { wholeScans } from "./wholeScans";
export { testOperator } from "./testOperator";
export { testLog } from "./testLog";
export { testRegistry } from "./testRegistry";
