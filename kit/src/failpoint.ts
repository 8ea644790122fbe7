export { failpoint } from "./testing/failpoint";
