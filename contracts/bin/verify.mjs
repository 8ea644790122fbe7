#!/usr/bin/env node
// Checks a chain against a deployment's file: the code of the artifacts, and the roles of
// roles.json.
import { connect, readDeployment, readOptions, run } from "../tools/chain.mjs";
import { readMintLimits, verifyDeployment } from "../tools/verification.mjs";

const usage = `Usage: node bin/verify.mjs --rpc URL --deployment FILE`;

await run(async () => {
  const { required } = readOptions(usage, ["rpc", "deployment"]);
  const provider = await connect(required("rpc"));
  try {
    const deployment = readDeployment(required("deployment"));
    const problems = await verifyDeployment(provider, deployment);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) {
      process.exitCode = 1;
      return;
    }
    console.log("code and roles are as recorded");
    const limits = await readMintLimits(provider, deployment);
    console.log(`mint cap per day: ${limits.capPerDay} won, of which ${limits.mintableToday} are left today`);
    console.log(`mint allowance of the payment manager: ${limits.allowance} won`);
  } finally {
    provider.destroy();
  }
});
