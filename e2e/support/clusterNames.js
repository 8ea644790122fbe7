// Loaded into a test's processes before their start. Resolves names to the address of each replica,
// as a cluster does for headless Services. CLUSTER_NAMES is {"auth": ["127.0.0.1", "127.0.0.2"],
// …}.
const { promises } = require("node:dns");

const names = JSON.parse(process.env.CLUSTER_NAMES);
const lookup = promises.lookup;
promises.lookup = (name, options) =>
  names[name]
    ? Promise.resolve(names[name].map((address) => ({ address, family: 4 })))
    : lookup(name, options);
