import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { type Answer, type Api, type Json } from "./api";
import { asAdmin } from "./asAdmin";
import { newOrganisation } from "./operators";
import { type TestStack } from "./startStack";

interface World {
  stack: TestStack;
  api: Api;
}

const NOBODY = "0".repeat(32);

/** Requests that are refused with the codes of events and webhooks. */
export const EVENT_CODES = {
  EVT_001: ({ api }: World) => api.call("GET", `/api/events/evt_${NOBODY}`),
  EVT_002: async ({ stack }: World) => {
    const { api } = await newOrganisation(stack.stack());
    await api.post("/api/wallets", { userId: "one", walletType: "NORMAL" });
    await eventually(async () => expect((await api.get("/api/events")).items.length).toBeGreaterThan(1));
    await asAdmin(stack.stack(), "events", (db) => db.run(sql`delete from events where sequence = 1`));
    const refused = await api.call("GET", "/api/events?after=0");
    expect(refused.body.error?.details).toEqual({ oldestAfter: "1" });
    return refused;
  },
  WHK_001: ({ api }: World) => api.call("GET", `/api/webhooks/whk_${NOBODY}`),
  WHK_002: async ({ api }: World) => {
    const refused = await api.call("POST", "/api/webhooks", { url: "https://169.254.169.254/latest" });
    expect(refused.body.error?.details).toEqual({ reason: "address_not_allowed" });
    return refused;
  },
  WHK_003: async ({ stack }: World) => {
    const { api } = await newOrganisation(stack.stack());
    const create = (): Promise<Answer<Json>> =>
      api.call("POST", "/api/webhooks", { url: "https://partner.example/", status: "DISABLED" });
    for (let made = 0; made < 50; made += 1) expect((await create()).status).toBe(201);
    return create();
  },
};
