// Finds foundry's binaries in npm's packages and runs forge with them. The packages' own wrappers
// leave the program running when they are killed.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

export const home = dirname(dirname(fileURLToPath(import.meta.url)));

export function foundryBinary(tool) {
  const machine = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const suffix = process.platform === "win32" ? ".exe" : "";
  try {
    const fromWrapper = createRequire(require.resolve(`@foundry-rs/${tool}/package.json`));
    return fromWrapper.resolve(`@foundry-rs/${tool}-${machine}/bin/${tool}${suffix}`);
  } catch {
    throw new Error(
      `npm has no ${tool} for ${machine}, or optional packages were left out: run npm ci at the root.`,
    );
  }
}

/** Runs forge in contracts/ with npm's solc and OpenZeppelin. Returns exit code and output. */
export function forge(args, { env = {}, show = false } = {}) {
  const openzeppelin = dirname(require.resolve("@openzeppelin/contracts/package.json"));
  const compiles = ["build", "test", "coverage"].includes(args[0]);
  const paths = [
    "--use",
    join(home, "bin/solc"),
    "--remappings",
    `@openzeppelin/contracts/=${openzeppelin}/`,
  ];
  const child = spawn(foundryBinary("forge"), compiles ? [...args, ...paths] : args, {
    cwd: home,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: show ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => (output += text));
    child.stderr?.setEncoding("utf8").on("data", (text) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
