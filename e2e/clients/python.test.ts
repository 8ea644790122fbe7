import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandOf } from "./python";

test("a program runs when its first line names a folder that was renamed", () => {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-python-"));
  try {
    writeFileSync(join(folder, "tool.cjs"), "#!/renamed/bin/python3\nconsole.log('ran');\n", { mode: 0o755 });
    symlinkSync(process.execPath, join(folder, "python3"));
    const python = { ok: true as const, command: join(folder, "python3"), minor: 11 };
    const [command, script] = commandOf(python, "tool.cjs");
    expect(execFileSync(command, [script], { encoding: "utf8" })).toBe("ran\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
