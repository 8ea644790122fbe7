import { checkDestination } from "./destination";

const contracts = {
  tokenAddress: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  paymentManagerAddress: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};

test("returns the checksummed address", () => {
  expect(checkDestination("0x70997970c51812dc3a010c7d01b50e0d17dc79c8", contracts)).toBe(
    "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  );
});

test.each([
  ["the zero address", `0x${"0".repeat(40)}`],
  ["the token", contracts.tokenAddress.toLowerCase()],
  ["the payment manager", contracts.paymentManagerAddress],
  ["a wrong checksum", "0x70997970C51812dc3A010C7d01b50e0d17dc79c8"],
  ["0X", "0X70997970c51812dc3a010c7d01b50e0d17dc79c8"],
  ["41 characters", "0x70997970c51812dc3a010c7d01b50e0d17dc79c"],
  ["43 characters", "0x70997970c51812dc3a010c7d01b50e0d17dc79c88"],
  ["nothing", ""],
])("refuses %s with TRF_002", (_, text) => {
  let refusal: unknown;
  try {
    checkDestination(text, contracts);
  } catch (error) {
    refusal = error;
  }
  const fields = [{ path: "toWalletAddress", message: expect.stringMatching(/^must /) }];
  expect(refusal).toMatchObject({ code: "TRF_002", details: { fields } });
});
