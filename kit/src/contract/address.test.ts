import { readAddress, sameAddress, ZERO_ADDRESS } from "./address";

// From EIP-55.
const CHECKSUMMED = [
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

test.each(CHECKSUMMED)("reads %s in any letter case, and returns the checksummed form", (address) => {
  expect(readAddress(address)).toBe(address);
  expect(readAddress(address.toLowerCase())).toBe(address);
  expect(readAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(address);
});

test.each([
  ["a wrong checksum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"],
  ["41 characters", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae"],
  ["43 characters", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0"],
  ["0X", "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"],
  ["no prefix", "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed00"],
  ["another script's digits", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae１"],
  ["nothing", ""],
])("refuses %s", (_, text) => {
  expect(readAddress(text)).toBeNull();
});

test("addresses are equal in any letter case", () => {
  expect(sameAddress(CHECKSUMMED[0]!, CHECKSUMMED[0]!.toLowerCase())).toBe(true);
  expect(readAddress(ZERO_ADDRESS)).toBe(ZERO_ADDRESS);
});
