import { Wallet } from "ethers";

export const keygen = {
  summary: "make a key for send, as a line of .env",
  takes: [],
  options: {},
  examples: ["keygen >> .env"],
  async run({ output }) {
    const { privateKey, address } = Wallet.createRandom();
    if (output.json) return output.result({ privateKey, address });
    process.stdout.write(`SENDER_PRIVATE_KEY=${privateKey}\n`);
    output.step(`its address is ${address}`);
  },
};
