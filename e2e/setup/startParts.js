// Jest's globalSetup of integration tests: one throw-away PostgreSQL and one Kafka broker for the whole run, real ones.
// They live in a process of their own, which ends them when its standard input closes: also when jest is killed.
const { spawn } = require("node:child_process");
const { join } = require("node:path");
const { createInterface } = require("node:readline");

const SCRIPT = join(__dirname, "../../deploy/local/src/testParts.ts");

module.exports = async function startParts() {
  const child = spawn(process.execPath, ["--require", require.resolve("tsx/cjs"), SCRIPT], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { env, labels } = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(JSON.parse(line)));
    child.once("error", reject);
    child.once("exit", () =>
      reject(new Error("The parts that integration tests need did not start; the reason is above.")),
    );
  });
  Object.assign(process.env, env);
  process.stderr.write(labels.map((label) => `  backend: ${label}\n`).join(""));
  globalThis.stopTestParts = () =>
    new Promise((resolve) => {
      child.once("exit", resolve);
      child.stdin.end();
    });
};
