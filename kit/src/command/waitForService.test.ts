import { waitForService } from "./waitForService";

const about = { what: "it is not closed", job: "close_operations" };

test("returns the first result, and looks again until there is one", async () => {
  const looks = [null, null, "CLOSED"];
  expect(await waitForService(async () => looks.shift()!, { ...about, patienceMs: 60_000 })).toBe("CLOSED");
  expect(looks).toEqual([]);
});

test("looks once without patience, and names the job that continues", async () => {
  expect(await waitForService(async () => "CLOSED", { ...about, patienceMs: 0 })).toBe("CLOSED");
  await expect(waitForService(async () => null, { ...about, patienceMs: 0 })).rejects.toThrow(
    "it is not closed yet. The request is stored, and the service continues with it: see its log, job close_operations.",
  );
});
