import { randomUUID } from "node:crypto";
import { closedLoop } from "../loop";
import { type Result, observed } from "../report";
import { type Http } from "./http";
import { paymentOf, SENDS } from "./sections";
import { type World } from "./world";

const CONNECTIONS = 64;
const DUPLICATED_KEYS = 500;
const AMOUNT = 100;

/** Two gateways, each with its own payment service, over one ledger: correctness and throughput. */
export async function pairs(world: World, seconds: number, onePairPerSecond: number): Promise<Result[]> {
  const openSecond = await world.startSecondPair();
  const ways: [Http, Http] = [world.open(CONNECTIONS / 2), openSecond(CONNECTIONS / 2)];
  try {
    await assertOneEffect(world, ways);
    const { perSecond } = await closedLoop({
      callers: CONNECTIONS,
      seconds,
      work: async (caller) => {
        const status = await SENDS.payment(ways[caller % 2]!, world);
        if (status !== 201) throw new Error(`answered ${status}`);
      },
    });
    const note = `${DUPLICATED_KEYS} keys given to both at once: ${DUPLICATED_KEYS} effects`;
    return [
      observed("pairs.rate", perSecond, "requests/s", note),
      observed(
        "pairs.speed_up",
        perSecond / onePairPerSecond,
        "×",
        "two gateways and two payments against one",
      ),
    ];
  } finally {
    ways.forEach((http) => http.close());
  }
}

/** Sends every key through both at once; the receiver must get each amount once. */
async function assertOneEffect({ wallets, api }: World, ways: [Http, Http]): Promise<void> {
  const [payer, receiver] = [wallets[0]!, wallets[1]!];
  const balance = async () => (await api.get(`/api/wallets/${receiver.walletId}`)).balance as number;
  const before = await balance();
  const order = paymentOf(payer, receiver, AMOUNT);
  const sendDuplicates = () => {
    const key = { "idempotency-key": randomUUID() };
    return Promise.all(ways.map((http) => http.send("POST", "/api/wallets/payment", order, key)));
  };
  const statuses = (await Promise.all(Array.from({ length: DUPLICATED_KEYS }, sendDuplicates))).flat();
  const wrong = statuses.filter((status) => status !== 201);
  if (wrong.length > 0)
    throw new Error(`the same keys through both gateways were answered ${wrong.join(", ")}`);
  const moved = (await balance()) - before;
  if (moved !== DUPLICATED_KEYS * AMOUNT)
    throw new Error(`${DUPLICATED_KEYS} keys moved ${moved} KRW, not ${DUPLICATED_KEYS * AMOUNT}`);
}
