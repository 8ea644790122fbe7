const Sequencer = require("@jest/test-sequencer").default;

/**
 * The slowest files of each project, slowest first. A fresh clone has no durations of an earlier run, and a
 * slow file that starts last keeps one worker busy while the others are idle. Files that use the shared
 * stack precede the others, because it ends with them.
 */
const SLOW = [
  ...["e2e/money", "e2e/sdk", "e2e/home", "e2e/sandbox", "e2e/exactlyOnce", "e2e/x402"],
  ...["e2e/ops/metrics", "e2e/webhooks"],
  ...["e2e/stack", "e2e/rolling", "e2e/moneyOutages", "e2e/demo", "e2e/console"],
  ...["kit/src/bus/kafka", "kit/src/bus/feedAlone", "e2e/chain/troubles", "e2e/chain/deposits"],
  ...["e2e/chain/takeover", "e2e/chain/scheduled", "e2e/chain/crashes", "e2e/chain/faults"],
  ...["e2e/chain/blocked", "e2e/chain/endpoints", "e2e/chain/pulling", "e2e/chain/splitBrain"],
  ...["e2e/chain/away", "e2e/chain/managers", "e2e/chain/refusing", "e2e/chain/settlement"],
  ...["kit/src/service/runService", "e2e/wire/pairs", "services/payment/src/commands/crashes"],
  ...["contracts/test/deploy", "sdk/test/package", "sdk/test/cliSend", "e2e/bus/serverKilled"],
  ...["deploy/local/src/parts/blockClock", "kit/src/inbox/delivery", "kit/src/db/database"],
  ...["services/ledger/src/queries/verify", "e2e/postgres/failover", "gateway/src/unreadAnswers"],
  ...["services/ledger/src/intents/decide", "services/wallet/src/keys/curve"],
];

/** Its faults have limits of time, so it runs when no other file uses the machine. */
const LAST = "e2e/torture";

/** Puts the slow files first. The others keep Jest's order. */
module.exports = class SlowestFirst extends Sequencer {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))];
    const slow = SLOW.flatMap((name) => sorted.filter(({ path }) => isOf(path, name)));
    const others = sorted.filter((test) => !slow.includes(test));
    const isLast = ({ path }) => isOf(path, LAST);
    return [...slow, ...others.filter((test) => !isLast(test)), ...others.filter(isLast)];
  }
};

function isOf(path, name) {
  return [".e2e", ".int", ""].some((kind) => path.endsWith(`/${name}${kind}.test.ts`));
}
