import { isAddress } from "ethers";
import { broadcast } from "../support/broadcast.js";
import { afterMoney, beforeMoney, UsageError } from "../support/failures.js";
import { unlessInterrupted } from "../support/interruption.js";
import { required, show, unitsOf, waitUntilFinal } from "../support/records.js";
import { openToken, signTransfer, signTransferWithAuthorization } from "../support/token.js";

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
    const payment = { to: recipientOf(values), units: unitsOf(values, "amount") };
    const token = await openToken(client.network, settings.senderKey, signal);
    try {
      const signed = await beforeMoney(() =>
        unlessInterrupted(signal, () =>
          values.authorization
            ? signTransferWithAuthorization(token, settings.submitterKey, payment)
            : signTransfer(token, payment),
        ),
      );
      const { txHash } = signed;
      // From here on the money moves.
      signal.throwIfAborted();
      // Printed before sending: if the node's answer is lost, the transaction may exist under this
      // hash.
      output.kept("sending", { txHash });
      const record = {
        paymentType: "INSTANT",
        txHash,
        fromAddress: token.wallet.address,
        toAddress: payment.to,
        amount: payment.units,
        ...(values.memo === undefined ? {} : { memo: values.memo }),
      };
      const isAwaited = values.wait === true;
      await afterMoney({ txHash }, async () => {
        await broadcast(token.provider, signed, signal);
        await recordSent({ client, output, signal, record, isAwaited });
      });
    } finally {
      token.close();
    }
  },
};

/** Checked here, because ethers would look other text up as a name on the chain. */
function recipientOf(values) {
  const to = required(values, "to");
  if (to.startsWith("0x") && isAddress(to)) return to;
  throw new UsageError("--to must be 0x and 40 hex digits, with a right checksum where it has one.");
}

async function recordSent({ client, output, signal, record, isAwaited }) {
  // Recorded even after an interruption, because the tokens are gone. A second Ctrl-C ends the process.
  const ending = signal.aborted ? {} : { signal };
  const recorded = await client.transactions.create(record, ending);
  output.step(`recorded  ${recorded.id}`);
  const last = isAwaited ? await waitUntilFinal({ client, output, signal, id: recorded.id }) : recorded;
  show({ output, client, record: last });
}
