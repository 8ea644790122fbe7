import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { reportSkipped } from "../support/reportSkipped";
import { ROOT } from "./repository";
import { findTool } from "./tools";

const promtool = findTool("promtool");
if (promtool === undefined)
  reportSkipped("the alerts are not tried, promtool is absent (Debian: apt-get install prometheus)");
const withPromtool = promtool === undefined ? test.skip : test;

withPromtool("promtool accepts the rules", () => {
  expect(run("check", "rules", "rules/alerts.yaml", "rules/recording.yaml")).toMatchObject({ status: 0 });
});

withPromtool(
  "each alert fires on what it is for, and none on a healthy system",
  () => {
    expect(run("test", "rules", "tests/alerts.yaml")).toMatchObject({ status: 0 });
  },
  180_000,
);

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(promtool!, args, {
    cwd: join(ROOT, "deploy/prometheus"),
    encoding: "utf8",
  });
  return { status, output: `${stdout}${stderr}` };
}
