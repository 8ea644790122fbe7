import { type ServiceClient } from "@wonrail/sdk";
import { type Stack } from "@wonrail/local/stackFile";
import { reportSkipped } from "../support/reportSkipped";
import { findClients } from "./generatedClients";

interface Played {
  payerWalletId: string;
  paymentId: string;
  normal: number;
  listed: string[];
  refusal: string;
}

/** Registers a test for each client of another language, which plays against the running stack. */
export function playClients(parts: () => { stack: Stack; client: ServiceClient }): void {
  for (const found of findClients()) {
    const title = `${found.name} creates, charges, pays and lists`;
    if ("why" in found) {
      reportSkipped(`${found.name} is not tested, ${found.why}`);
      test.skip(title, () => undefined);
      continue;
    }
    test(title, async () => {
      const { stack, client } = parts();
      const env = { WONRAIL_BASE_URL: stack.gatewayUrl, WONRAIL_API_KEY: stack.organisations[0]!.apiKey };
      const output = found.play(env).trim().split("\n").at(-1)!;
      const { payerWalletId, paymentId, ...played } = JSON.parse(output) as Played;
      expect(played).toEqual({ normal: 12_000, listed: [paymentId], refusal: "PAY_001" });
      expect(await client.payments.get(paymentId)).toMatchObject({
        status: "PAID",
        payerWalletId,
        amount: 12_000,
      });
      const { balance } = await client.wallets.get(payerWalletId);
      expect(balance).toBe(38_000);
    });
  }
}
