// The command line example outside of the repository, by the commands of its README.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { documentServer } from "./support/documentServer.ts";
import { execute } from "./support/scratchProject.ts";

const ROOT = join(__dirname, "../..");
const EXAMPLE = join(ROOT, "sdk/examples/cli");

jest.setTimeout(180_000);

test("the commands of its README work outside of the repository", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "wonrail-example-"));
  const service = await documentServer();
  try {
    const folder = join(scratch, "records");
    const [, own] = readFileSync(join(EXAMPLE, "README.md"), "utf8").split("## On its own");
    const lines = /```bash\n(.*?)```/s.exec(own!)![1]!.trim().replaceAll("../records", folder).split("\n");
    const fillIn = lines.findIndex((line) => line.startsWith("cp .env.example"));
    expect(lines.slice(fillIn)).toHaveLength(2);

    bring("ethers", ROOT, join(scratch, "brought"));
    // ethers is copied into the folder instead of downloaded. The packed library is already built.
    const install = lines
      .slice(0, fillIn + 1)
      .flatMap((line) =>
        line.startsWith("npm install") ? [`mv ${scratch}/brought/node_modules .`, line] : [line],
      );
    const quiet = {
      npm_config_offline: "true",
      npm_config_ignore_scripts: "true",
      npm_config_audit: "false",
    };
    const installed = await execute("bash", ["-ec", install.join("\n")], ROOT, quiet);
    expect(installed).toMatchObject({ ok: true });

    const settings = readFileSync(join(folder, ".env"), "utf8")
      .replace(/^(WONRAIL_BASE_URL=).*$/m, `$1${service.url}`)
      .replace(/^(WONRAIL_API_KEY=).*$/m, "$1wk_test_1");
    writeFileSync(join(folder, ".env"), settings);
    const listed = await execute("bash", ["-ec", lines[fillIn + 1]!], folder);
    expect(listed).toEqual({ ok: true, output: expect.stringContaining("txn_") as string });
  } finally {
    await service.close();
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** Copies a package and its dependencies into a folder's node_modules. */
function bring(name: string, from: string, to: string): void {
  const found = join(from, "node_modules", name);
  if (!existsSync(found)) return bring(name, dirname(from), to);
  const copy = join(to, "node_modules", name);
  cpSync(found, copy, { recursive: true });
  const { dependencies = {} } = JSON.parse(readFileSync(join(found, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const needed of Object.keys(dependencies))
    if (!existsSync(join(copy, "node_modules", needed))) bring(needed, found, copy);
}
