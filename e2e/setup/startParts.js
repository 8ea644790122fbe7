// Jest's globalSetup of integration tests: one real PostgreSQL and one Kafka broker for the whole
// run. Their process ends them when its standard input closes, also when jest is killed.
const { spawn } = require("node:child_process");
const { appendFileSync } = require("node:fs");
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
  report(labels);
  globalThis.stopTestParts = () =>
    new Promise((resolve) => {
      child.once("exit", resolve);
      child.stdin.end();
    });
};

/** Reports to the terminal and to the runner, which repeats it at the end. */
function report(labels) {
  const file = process.env.WONRAIL_TEST_BACKENDS;
  for (const label of labels) {
    process.stderr.write(`  backend: ${label}\n`);
    if (file) appendFileSync(file, `${label}\n`);
  }
}
