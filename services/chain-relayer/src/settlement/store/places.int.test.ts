import { setTimeout as sleep } from "node:timers/promises";
import { tx } from "@wonrail/kit/db";
import { planOperations } from "../commands/planOperations";
import { OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { holdHeads } from "./places";
import { holdLease } from "../../sender/store/transactions";

const database = freshDatabase();

test("while a planner waits for the heads nobody else holds them, so however much comes in, it comes to its turn", async () => {
  const lease = await becomeWriter();
  const { planning, others } = await tx(database.db, async (intake) => {
    expect(await holdHeads(intake)).toBe(true);
    expect(await tx(database.db, holdHeads)).toBe(true);
    const planning = planOperations(database.db, lease);
    await sleep(200);
    return { planning, others: await tx(database.db, holdHeads) };
  });
  expect(others).toBe(false);
  await planning;
  expect(await tx(database.db, holdHeads)).toBe(true);
});

test("the writer keeps its lease while operations are being sorted in", async () => {
  const { epoch } = await becomeWriter();
  await tx(database.db, async (intake) => {
    expect(await holdHeads(intake)).toBe(true);
    expect((await becomeWriter()).epoch).toBe(epoch);
  });
});

async function becomeWriter() {
  return (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
}
