// A temporary EVM node for one measurement or test run.
import { spawn } from "node:child_process";
import { connect } from "./chain.mjs";
import { foundryBinary } from "./foundry.mjs";

/** Starts anvil on a free port. Returns { url, provider, stop }. */
export async function startAnvil() {
  // Unpruned, the node would keep old states in the user's home folder.
  const options = ["--port", "0", "--hardfork", "osaka", "--gas-limit", "60000000", "--prune-history", "64"];
  const child = spawn(foundryBinary("anvil"), options, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
      const found = /Listening on 127\.0\.0\.1:([0-9]+)/.exec(output);
      if (found) resolve(found[1]);
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`anvil did not start:\n${output}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  const provider = await connect(url);
  const stop = () => {
    provider.destroy();
    child.kill();
    return new Promise((resolve) => child.once("close", resolve));
  };
  return { url, provider, stop };
}
