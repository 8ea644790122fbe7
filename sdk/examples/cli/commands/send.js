import { toUnits } from "@wonrail/sdk";
import { required, show, waitUntilFinal } from "../support/records.js";
import { openToken, transfer, transferWithAuthorization } from "../support/token.js";

export const send = {
  summary: "send tokens on the default network and record the hash",
  takes: [],
  options: {
    to: { type: "string", help: "recipient" },
    amount: { type: "string", help: "in KRW, such as 12000 or 0.5" },
    memo: { type: "string", help: "a note of your own, to 200 characters" },
    authorization: { type: "boolean", help: "sign an ERC-3009 authorization instead of a plain transfer" },
    wait: { type: "boolean", help: "wait until the chain has decided" },
  },
  examples: ["send --to 0x86… --amount 1.5 --wait", "send --to 0x86… --amount 1.5 --authorization"],
  async run({ values, settings, output, signal }) {
    const client = settings.client();
    const payment = { to: required(values, "to"), units: toUnits(required(values, "amount")) };
    const token = await openToken(client.network, settings.senderKey);
    try {
      const txHash = values.authorization
        ? await transferWithAuthorization(token, settings.submitterKey, payment)
        : await transfer(token, payment);
      // Said before it is recorded: whatever happens next, the money is on its way under this hash.
      output.step(`sent      ${txHash}`);
      const recorded = await client.transactions.create(
        {
          paymentType: "INSTANT",
          txHash,
          fromAddress: token.wallet.address,
          toAddress: payment.to,
          amount: payment.units,
          ...(values.memo === undefined ? {} : { memo: values.memo }),
        },
        { signal },
      );
      output.step(`recorded  ${recorded.id}`);
      const record = values.wait
        ? await waitUntilFinal({ client, output, signal, id: recorded.id })
        : recorded;
      show({ output, client, record });
    } finally {
      token.provider.destroy();
    }
  },
};
