import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmdirSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fingerprint, isAlive } from "../process/fingerprint";
import { endLauncher } from "./down";

test("a launcher that never answers the request is ended by a signal", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const child = spawn(process.execPath, ["-e", "process.send('up'); setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  await once(child, "message");
  const launcher = {
    pid: child.pid!,
    fingerprint: fingerprint(child.pid!)!,
    startedAt: new Date().toISOString(),
    control: { port: (server.address() as AddressInfo).port, token: "t" },
  };
  const gone = once(child, "exit");
  try {
    await endLauncher(launcher, 100);
    expect(isAlive(launcher)).toBe(false);
    expect(await gone).toEqual([null, "SIGTERM"]);
    await endLauncher(launcher, 100); // Already ended: sends no signal and throws nothing.
  } finally {
    child.kill("SIGKILL");
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test.each(["down", "logs"])(
  "%s with an option that it has not says so in a line, and does nothing",
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), "wonrail-usage-"));
    const bin = join(__dirname, `../../bin/${name}.mjs`);
    const env = { ...process.env, WONRAIL_HOME: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "--help"], {
      encoding: "utf8",
      env,
    });
    expect([status, stdout]).toEqual([64, ""]);
    expect(stderr).toMatch(/^Unknown option '--help'.*\n$/);
    // The folder is still empty.
    rmdirSync(folder);
  },
);
