import { sql } from "../db";
import { createTestDatabase, openTestDatabase } from "../testing";
import { installPostgresBus } from "./postgres";
import { busConformance } from "./testing/conformance";

busConformance("Postgres", async () => {
  const database = await createTestDatabase({ schema: "bus_user" });
  await installPostgresBus(database.adminUrl, ["wonrail_bus_user"]);
  const admin = openTestDatabase(database.adminUrl, "bus");
  return {
    place: { kind: "postgres", url: database.url },
    async deleteTopic(topic) {
      await admin.run(sql`delete from topics where name = ${topic}`);
    },
    async forgetGroup(group) {
      await admin.run(sql`delete from cursors where group_name = ${group}`);
    },
    async close() {
      await admin.close();
      await database.drop();
    },
  };
});
