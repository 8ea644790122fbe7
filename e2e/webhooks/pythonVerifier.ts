import { findPython } from "../clients/python";
import { run } from "../clients/run";

/** Verifies a delivery with PyPI's standardwebhooks, and returns the event. Throws when the signature is wrong. */
export type PythonVerifier = (secret: string, headers: Record<string, string>, body: string) => unknown;

const VERIFY = `
import json, sys
from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin)
print(json.dumps(Webhook(given["secret"]).verify(given["body"], given["headers"])))
`;

/** Returns the reason instead when this machine cannot run the library. */
export function findPythonVerifier(): PythonVerifier | string {
  const python = findPython();
  if (!python.ok) return python.why;
  return (secret, headers, body) => {
    const input = JSON.stringify({ secret, headers, body });
    const { ok, output } = run(python.command, ["-W", "ignore", "-c", VERIFY], { input });
    if (!ok) throw new Error(output);
    return JSON.parse(output) as unknown;
  };
}
