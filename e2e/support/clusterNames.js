// Loaded into the processes of a test before they start: answers for names as a cluster's name server does for headless Services, with the
// address of each replica. CLUSTER_NAMES is {"auth": ["127.0.0.1", "127.0.0.2"], …}.
const { promises } = require("node:dns");

const names = JSON.parse(process.env.CLUSTER_NAMES);
const lookup = promises.lookup;
promises.lookup = (name, options) =>
  names[name]
    ? Promise.resolve(names[name].map((address) => ({ address, family: 4 })))
    : lookup(name, options);
