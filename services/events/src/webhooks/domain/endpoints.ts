/** Attempts of one webhook at once. */
const PER_WEBHOOK = 20;
/** A webhook gets at most this part of the free room, so that many endpoints that hang leave room for the others. */
const LARGEST_SHARE = 1 / 50;
/** So many failures in a row open the breaker: one attempt at a time tries the endpoint until one succeeds. */
const BREAKER_FAILURES = 10;

interface Endpoint {
  running: number;
  failures: number;
}

/** How busy each endpoint is in this process, so that an endpoint that hangs does not take the room of the others. */
export interface Endpoints {
  began(webhookId: string): void;
  ended(webhookId: string, isDelivered: boolean): void;
  /** `room`: how many more attempts can run. */
  limits(room: number): { perWebhook: number; exceptions: { webhookId: string; limit: number }[] };
}

export function createEndpoints(): Endpoints {
  const byId = new Map<string, Endpoint>();
  const endpointOf = (webhookId: string): Endpoint => {
    const endpoint = byId.get(webhookId) ?? { running: 0, failures: 0 };
    byId.set(webhookId, endpoint);
    return endpoint;
  };
  return {
    began: (webhookId) => void (endpointOf(webhookId).running += 1),
    ended(webhookId, isDelivered) {
      const endpoint = endpointOf(webhookId);
      endpoint.running -= 1;
      endpoint.failures = isDelivered ? 0 : endpoint.failures + 1;
      if (endpoint.running === 0 && endpoint.failures === 0) byId.delete(webhookId);
    },
    limits(room) {
      const perWebhook = Math.max(1, Math.min(PER_WEBHOOK, Math.floor(room * LARGEST_SHARE)));
      const exceptions = [...byId].map(([webhookId, { running, failures }]) => {
        const most = failures >= BREAKER_FAILURES ? 1 : perWebhook;
        return { webhookId, limit: Math.max(0, most - running) };
      });
      return { perWebhook, exceptions };
    },
  };
}
