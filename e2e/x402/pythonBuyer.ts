import { execFile, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findTool } from "../ops/tools";
import { type Purchase } from "./buyer";
import { type Shop } from "./shop";

const VERSION = "2.25.0";
const INSTALL_MS = 240_000;
const BUY_MS = 120_000;

/** Buys from a shop with PyPI's x402. */
export type PythonBuyer = (shop: Shop, key: string) => Promise<Purchase>;

const BUY = `
import base64, json, sys
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
given = json.load(sys.stdin)
client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(Account.from_key(given["key"])))
client.set_spend_controls({"allowed_assets": [{"network": given["network"], "asset": given["asset"]}]})
response = x402_requests(client).get(given["url"])
header = response.headers.get("PAYMENT-RESPONSE")
payment = json.loads(base64.b64decode(header)) if header else None
print(json.dumps({"status": response.status_code, "body": response.json(), "payment": payment}))
`;

/** Returns the reason instead when this machine cannot run the library. */
export function findPythonBuyer(): PythonBuyer | string {
  const python = findTool("python3");
  if (python === undefined) return "python3 is absent";
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const folder = join(cache, `wonrail/x402-${VERSION}`);
  const problem = existsSync(join(folder, "ready")) ? undefined : install(python, folder);
  if (problem !== undefined) return problem;
  return async ({ url, network, asset }, key) => {
    // The shop runs in this process, so its event loop must go on.
    const running = promisify(execFile)(join(folder, "bin/python3"), ["-c", BUY], { timeout: BUY_MS });
    running.child.stdin!.end(JSON.stringify({ url, network, asset, key }));
    return JSON.parse((await running).stdout) as Purchase;
  };
}

/** Installs the library into a folder of its own, which later runs use again. Returns the problem. */
function install(python: string, folder: string): string | undefined {
  rmSync(folder, { recursive: true, force: true });
  const pip = [join(folder, "bin/python3"), ["-m", "pip", "install", "--quiet"]] as const;
  const steps: [string, string[]][] = [
    [python, ["-m", "venv", folder]],
    [pip[0], [...pip[1], `x402[evm,requests]==${VERSION}`]],
    [pip[0], ["-c", `open(${JSON.stringify(join(folder, "ready"))}, "w")`]],
  ];
  for (const [program, args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: INSTALL_MS });
    if (status !== 0)
      return `PyPI's x402 cannot be installed: ${(error?.message ?? stderr).trim().split("\n").at(-1)}`;
  }
  return undefined;
}
