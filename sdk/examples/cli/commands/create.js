import { NetworkType } from "@wonrail/sdk";
import { exampleWallet } from "../support/exampleWallet.js";
import { UsageError } from "../support/failures.js";
import { momentOf, required, show, unitsOf } from "../support/records.js";

export const create = {
  summary: "record a transaction: one on the chain, or one that is due later",
  takes: [],
  options: {
    hash: { type: "string", help: "its hash, for one that is on the chain already (INSTANT)" },
    at: { type: "string", help: "when it is due: ISO 8601 with a zone, or +30s, +10m, +2h (SCHEDULED)" },
    from: { type: "string", help: "sender; for a scheduled one the example's own wallet unless given" },
    to: { type: "string", help: "recipient" },
    amount: { type: "string", help: "in KRW, such as 12000 or 0.5" },
    fee: { type: "string", help: "as amount" },
    memo: { type: "string", help: "a note of your own, to 200 characters" },
    key: { type: "string", help: "one of your own, or that of a call whose outcome is not known" },
    network: {
      type: "string",
      help: `the service's unless given; one of ${Object.keys(NetworkType).join(", ")}`,
    },
  },
  examples: [
    "create --hash 0x4e… --from 0x52… --to 0x86… --amount 1.5",
    "create --at +20s --to 0x86… --amount 100 --memo Rent",
  ],
  async run({ values, settings, output, signal }) {
    if ((values.hash === undefined) === (values.at === undefined))
      throw new UsageError(
        "Give --hash for one that is on the chain already, or --at for one that is due later.",
      );
    const client = settings.client();
    const fields = {
      toAddress: required(values, "to"),
      amount: unitsOf(values, "amount"),
      ...(values.fee === undefined ? {} : { fee: unitsOf(values, "fee") }),
      ...(values.memo === undefined ? {} : { memo: values.memo }),
      ...(values.network === undefined ? {} : { fromNetworkType: values.network }),
    };
    const request =
      values.at === undefined
        ? { ...fields, paymentType: "INSTANT", txHash: values.hash, fromAddress: required(values, "from") }
        : {
            ...fields,
            paymentType: "SCHEDULED",
            scheduledAt: momentOf(values.at),
            fromAddress: values.from ?? (await exampleWallet(client, signal)).walletAddress,
          };
    const key = values.key === undefined ? {} : { idempotencyKey: values.key };
    show({ output, client, record: await client.transactions.create(request, { signal, ...key }) });
  },
};
