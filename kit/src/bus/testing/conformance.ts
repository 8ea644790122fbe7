import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { sql, tx } from "../../db";
import { listDeadLetters } from "../../inbox";
import { appendEvents, partitionOf } from "../../outbox";
import { eventually, type ProxyMode } from "../../testing";
import { BOUND_MS, noted, openWorld, PARTITIONS, type World } from "./world";

const SLOW = 120_000;
/** Two keys of every partition. */
const KEYS = Array.from({ length: PARTITIONS }, (_, partition) =>
  Array.from({ length: 100 }, (_, index) => `key${index}`)
    .filter((key) => partitionOf(key, PARTITIONS) === partition)
    .slice(0, 2),
).flat();
const [KEY] = KEYS as [string];

/**
 * Tests the transport of events from an outbox to its consumers: equal tests for Kafka with the
 * feed behind it, and for the feed alone.
 */
export function feedConformance(name: string, start: () => Promise<string[] | undefined>): void {
  describe(name, () => {
    let brokers: string[] | undefined;
    let world: World;
    beforeAll(async () => {
      brokers = await start();
    }, SLOW);
    beforeEach(async () => {
      world = await openWorld(brokers);
    }, SLOW);
    afterEach(() => world.close(), SLOW);

    it(
      "handles every event once, each key in order",
      async () => {
        await world.startReplica();
        await Promise.all(KEYS.map((key) => world.append(key, 25)));
        await world.complete();
      },
      SLOW,
    );

    it(
      "brings a new group everything that the feed keeps",
      async () => {
        await world.append("early", 10);
        await world.startReplica();
        await world.complete();
      },
      SLOW,
    );

    it(
      "handles every event once with two replicas",
      async () => {
        await Promise.all([world.startReplica(), world.startReplica()]);
        await Promise.all(KEYS.map((key) => world.append(key, 25)));
        await world.complete();
      },
      SLOW,
    );

    it(
      "loses and repeats nothing while replicas come and go",
      async () => {
        const first = await world.startReplica({ handleMs: 5 });
        const appending = Promise.all(KEYS.map((key) => world.append(key, 40)));
        const second = await world.startReplica({ handleMs: 5 });
        await first.close();
        await world.startReplica({ handleMs: 5 });
        await second.close();
        await appending;
        await world.complete();
      },
      SLOW,
    );

    it(
      "goes on when a replica is killed",
      async () => {
        const victim = await world.startProcess({ handleMs: 20 });
        await Promise.all(KEYS.map((key) => world.append(key, 20)));
        await eventually(async () => expect((await world.effectsOf(KEY)).length).toBeGreaterThan(0), {
          timeoutMs: 30_000,
        });
        victim.kill("SIGKILL");
        await once(victim, "exit");
        await world.startReplica();
        await world.complete();
      },
      SLOW,
    );

    it(
      "goes on when a replica is frozen, and repeats nothing when it thaws",
      async () => {
        const frozen = await world.startProcess();
        await world.append(KEY, 5);
        await world.complete();
        frozen.kill("SIGSTOP");
        await world.append(KEY, 5);
        await world.startReplica();
        await world.complete();
        frozen.kill("SIGCONT");
        await world.append(KEY, 5);
        await world.complete();
      },
      SLOW,
    );

    it(
      "buries a poison event and handles the others",
      async () => {
        await world.startReplica();
        await world.append(KEY, 3);
        await world.append("bad", 1, "poison");
        await world.append(KEY, 3);
        await eventually(async () => expect(await world.effectsOf(KEY)).toEqual([1, 2, 3, 4, 5, 6]));
        // Other events do not wait until the last attempt of this one.
        await eventually(async () => {
          const letters = await listDeadLetters(world.consumer.db);
          expect(letters).toEqual([
            expect.objectContaining({ type: "noted", error: expect.stringContaining("TypeError") as string }),
          ]);
        });
        expect(await world.effectsOf("bad")).toEqual([]);
      },
      SLOW,
    );

    it(
      "retries a partition whose handler fails, and the others do not wait",
      async () => {
        const replica = await world.startReplica();
        replica.failing.key = KEY;
        const free = KEYS.filter((key) => partitionOf(key, PARTITIONS) !== partitionOf(KEY, PARTITIONS));
        await world.append(KEY, 3);
        for (const key of free) await world.append(key, 3);
        for (const key of free)
          await eventually(async () => expect(await world.effectsOf(key)).toEqual([1, 2, 3]));
        expect(await world.effectsOf(KEY)).toEqual([]);
        delete replica.failing.key;
        await world.complete();
        expect(replica.live()).toBe(true);
      },
      SLOW,
    );

    it(
      "delivers a transaction that commits late",
      async () => {
        await world.startReplica();
        await tx(world.producer.db, async (tx) => {
          await appendEvents(tx, [noted(world.topic.name, "late", 1)]);
          await tx.query(sql`select`);
          await world.append(KEY, 20);
          await world.complete();
        });
        await eventually(async () => expect(await world.effectsOf("late")).toEqual([1]), {
          timeoutMs: BOUND_MS,
        });
      },
      SLOW,
    );

    const faults: ProxyMode[] = [{ kind: "reset" }, { kind: "blackhole" }, { kind: "dropResponses" }];
    it.each(faults)(
      "misses nothing within 5 s after the transport was broken ($kind)",
      async (mode) => {
        const transport = world.kafkaProxy ?? world.feedProxy;
        await world.startReplica();
        await world.append(KEY, 5);
        await world.complete();
        transport.setMode(mode);
        await Promise.all(KEYS.map((key) => world.append(key, 5)));
        await sleep(3_000);
        transport.setMode({ kind: "pass" });
        await world.complete(BOUND_MS);
      },
      SLOW,
    );

    it(
      "survives connections that end in the middle of an answer",
      async () => {
        const transport = world.kafkaProxy ?? world.feedProxy;
        await world.startReplica();
        for (let round = 0; round < 5; round += 1) {
          transport.setMode({ kind: "cutAnswers" });
          await world.append(KEY, 5);
          await sleep(100);
          transport.setMode({ kind: "pass" });
        }
        await world.complete(BOUND_MS);
      },
      SLOW,
    );

    it(
      "reads the feed again when the producer was restored to an earlier state",
      async () => {
        const replica = await world.startReplica();
        await world.append(KEY, 5);
        await world.append("lost", 3);
        await world.complete();
        await world.relay.close();
        await restoreWithout(world, "lost");
        await world.restartRelay();
        // The restored producer gives the lost events' numbers to new ones.
        await world.append(KEY, 5);
        await tx(world.producer.db, (tx) =>
          appendEvents(
            tx,
            Array.from({ length: 9 }, (_, index) => noted(world.topic.name, "other", index + 1)),
          ),
        );
        await eventually(async () => expect(await world.effectsOf("other")).toHaveLength(9), {
          timeoutMs: BOUND_MS,
        });
        await world.complete(BOUND_MS);
        await eventually(
          async () => expect(await replica.registry.metrics()).toMatch(/feed_restarts_total\{.*\} [1-9]/),
          { timeoutMs: BOUND_MS },
        );
      },
      SLOW,
    );

    it(
      "handles again what the consumer's database lost in a restore",
      async () => {
        await world.startReplica();
        await world.append(KEY, 10);
        await world.complete();
        const { db } = world.consumer;
        const lost = await world.producer.db.query<{ id: string }>(sql`
        select event_id as id from outbox where version > 4`);
        await db.run(sql`
        with gone as (delete from effects where version > 4)
        , ids as (delete from inbox where event_id = any(${lost.map(({ id }) => id)}::uuid[]))
        update feed_cursors set number = 4, event_id = null where partition = ${partitionOf(KEY, PARTITIONS)}`);
        await world.complete(BOUND_MS);
      },
      SLOW,
    );

    it(
      "reports the lag of each partition in events and seconds",
      async () => {
        const replica = await world.startReplica();
        replica.failing.key = KEY;
        await world.append(KEY, 3);
        await sleep(1_000);
        const labels = `{group="sample",topic="${world.topic.name}",partition="${partitionOf(KEY, PARTITIONS)}"}`;
        await eventually(
          async () => {
            const text = await replica.registry.metrics();
            expect(text).toContain(`consumer_lag_messages${labels} 3`);
            expect(Number(text.split(`consumer_lag_seconds${labels} `)[1]?.split("\n")[0])).toBeGreaterThan(
              1,
            );
          },
          { timeoutMs: 30_000 },
        );
      },
      SLOW,
    );
  });
}

/** A restore to the time before the key's events, which are gone with their numbers. */
async function restoreWithout(world: World, key: string): Promise<void> {
  const partition = partitionOf(key, PARTITIONS);
  await world.producer.db.run(sql`
    with gone as (delete from outbox where aggregate_id = ${key} returning id),
    numbers as (delete from feed_positions p using gone where p.outbox_id = gone.id returning p.number)
    update feed_heads set number = (select min(number) from numbers) - 1,
      published = least(published, (select min(number) from numbers) - 1)
    where partition = ${partition}`);
}
