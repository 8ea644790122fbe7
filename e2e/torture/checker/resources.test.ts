import { checkResources } from "./resources";

const START = {
  process: "ledger",
  residentBytes: 100 * 2 ** 20,
  fileDescriptors: 40,
  databaseConnections: 10,
};

test("a use that returns to its start passes, and a leak is found", () => {
  const check = (end: Partial<typeof START>) =>
    checkResources({
      samples: [
        { ...START, phase: "start" },
        { ...START, ...end, phase: "end" },
      ],
    }).map(({ message }) => message);
  expect(check({ residentBytes: 150 * 2 ** 20, fileDescriptors: 45, databaseConnections: 12 })).toEqual([]);
  expect(check({ residentBytes: 500 * 2 ** 20, fileDescriptors: 90, databaseConnections: 30 })).toHaveLength(
    3,
  );
});
