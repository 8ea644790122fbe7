import { type World } from "../world/openWorld";
import { type Sending } from "./recordingFetch";
import { type Request } from "./requests";

export type Send = (of: Omit<Sending, "attempts">, request: Request, key: string) => Promise<void>;

const WALLETS = 8;
const FIRST_CHARGE_WON = 300_000;
const NO_CLIENT = -1;
/** Operations of the preparation have negative numbers, a range for each organisation. */
const RANGE = 1_000;

/** Opens a webhook and wallets with money for each organisation. The first wallets become hot. */
export async function prepareEstates(
  { organisations, receiver }: World,
  { seed, send }: { seed: number; send: Send },
): Promise<void> {
  const prepare = async (place: number): Promise<void> => {
    const { code: organisation, estate } = organisations[place]!;
    let operation = -RANGE * place;
    const sendAll = async (requests: Request[]): Promise<void> => {
      const sent = requests.map((request) => {
        operation -= 1;
        const of = { operation, client: NO_CLIENT, organisation, name: request.name };
        return send(of, request, `torture-${seed}-first${operation}`);
      });
      await Promise.all(sent);
    };
    const users = [...Array(WALLETS).keys()].map((number) => `user-${number + 1}`);
    await sendAll([
      openWebhook(receiver.newUrl(organisation)),
      ...users.map((user) => openWallet(user, "NORMAL")),
      ...users.slice(0, WALLETS / 2).map((user) => openWallet(user, "INCENTIVE")),
    ]);
    await sendAll(estate.wallets.map(({ walletId }) => charge(walletId)));
  };
  await Promise.all(organisations.map((_, place) => prepare(place)));
}

function openWebhook(url: string): Request {
  const request = { url, ordering: "object" as const, after: "0" };
  return { name: "webhook.create", send: (sdk, options) => sdk.webhooks.create(request, options) };
}

function openWallet(userId: string, walletType: "NORMAL" | "INCENTIVE"): Request {
  return {
    name: "wallet.create",
    send: (sdk, options) => sdk.wallets.create({ userId, walletType }, options),
  };
}

function charge(walletId: string): Request {
  const request = { walletId, amount: FIRST_CHARGE_WON };
  return { name: "charge", send: (sdk, options) => sdk.charges.create(request, options) };
}
