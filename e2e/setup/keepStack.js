// Jest's globalSetup of end-to-end tests: a door to the shared stack. POST starts the stack or joins
// its users, and DELETE leaves. Jest's own process holds the stack, because workers may end earlier.
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { chmodSync, mkdtempSync, rmSync } = require("node:fs");
const { createServer } = require("node:http");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const UP = join(__dirname, "../../deploy/local/bin/up.mjs");
/** An idle stack takes a third of a core, so it ends when no test file has used it for this time. */
const LINGER_MS = 15_000;

module.exports = async function keepStack() {
  const keeper = createKeeper();
  const server = createServer((request, response) => {
    // Otherwise a worker may use a kept connection that is just closing.
    response.setHeader("Connection", "close");
    if (request.method === "DELETE") return void response.end(keeper.leave());
    keeper.join().then(
      ({ dir }) => response.end(dir),
      ({ message }) => response.writeHead(500).end(message),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.env.WONRAIL_TEST_SHARED_STACK = `http://127.0.0.1:${server.address().port}`;
  globalThis.stopSharedStack = async () => {
    server.close();
    server.closeAllConnections();
    await keeper.stop();
  };
};

function createKeeper() {
  let stack;
  let users = 0;
  let timer;

  async function stop() {
    clearTimeout(timer);
    const started = await stack?.catch(() => undefined);
    stack = undefined;
    await started?.stop();
  }

  return {
    stop,
    join() {
      users += 1;
      clearTimeout(timer);
      return (stack ??= startStack());
    },
    leave() {
      users -= 1;
      if (users === 0) timer = setTimeout(stop, LINGER_MS);
    },
  };
}

/** A stack with mutual TLS, and with Kafka where the machine has it. */
async function startStack() {
  const dir = mkdtempSync(join(tmpdir(), "wonrail shared-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const env = { ...process.env, WONRAIL_HOME: dir, CI: "true" };
  const launcher = spawn(process.execPath, [UP, "--attached", "--mtls"], { env });
  const ended = once(launcher, "close").then(() => rmSync(dir, { recursive: true, force: true }));
  let output = "";
  await new Promise((resolve, reject) => {
    for (const stream of [launcher.stdout, launcher.stderr])
      stream.on("data", (text) => {
        output += text;
        if (output.includes("Stop with Ctrl-C.")) resolve();
      });
    ended.then(() => reject(new Error(`The shared stack did not start:\n${output}`)));
  });
  return {
    dir,
    stop() {
      launcher.kill("SIGTERM");
      return ended;
    },
  };
}
