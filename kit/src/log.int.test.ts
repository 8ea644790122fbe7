import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";

const FULL = "/dev/full";

(existsSync(FULL) ? test : test.skip)(
  "a log on a volume that is full neither ends its process nor keeps it from its end",
  async () => {
    const script = `
      const log = require(${JSON.stringify(join(__dirname, "log.ts"))}).createLog({ service: "test" });
      log.info("first");
      setTimeout(() => log.info("still here"), 100);
      setTimeout(() => process.exit(7), 200);`;
    const full = openSync(FULL, "w");
    const child = spawn(process.execPath, ["--require", require.resolve("tsx/cjs"), "--eval", script], {
      stdio: ["ignore", full, "inherit"],
    });
    closeSync(full);
    const insist = setTimeout(() => child.kill("SIGKILL"), 60_000);
    expect(await once(child, "exit")).toEqual([7, null]);
    clearTimeout(insist);
  },
);
