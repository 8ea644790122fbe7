#!/usr/bin/env node
// Says whether a chain holds what a deployment's file says: the code of the artifacts, and the roles of roles.json.
import { connect, readDeployment, readOptions, run } from "../tools/chain.mjs";
import { verifyDeployment } from "../tools/verification.mjs";

const usage = `Usage: node bin/verify.mjs --rpc URL --deployment FILE`;

await run(async () => {
  const { required } = readOptions(usage, ["rpc", "deployment"]);
  const provider = await connect(required("rpc"));
  try {
    const deployment = readDeployment(required("deployment"));
    const problems = await verifyDeployment(provider, deployment);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
    else console.log("code and roles are as recorded");
  } finally {
    provider.destroy();
  }
});
