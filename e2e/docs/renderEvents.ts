import { PROCESSES, readText } from "../ops/repository";

interface Event {
  type: string;
  message: string;
  comment: string;
  fields: { name: string; type: string; comment: string }[];
}

/** In the order of the pages that name them; the proto package of chain-relayer is `relayer`. */
const PUBLISHERS = ["auth", "wallet", "ledger", "payment", "chain-relayer"] as const;

/** docs/reference/events.md: everything that is published, from the protos and their comments. */
export function renderEvents(): string {
  const takers = readEventConsumers();
  const sections = PUBLISHERS.map((service) => renderService(service, takers));
  return `<!-- Generated from proto/wonrail/*/events/v1/events.proto by npm run docs; do not edit. -->

# Events

Every service publishes its changes of state as one ordered feed. The transaction of a change writes
its events too. [Events](../concepts/events.md) explains the idea.

A feed has a fixed number of partitions. The partition of an event is the first four bytes of the SHA-256 of its
aggregate id, as a big-endian number, modulo the number of partitions. The numbers of a partition grow by exactly one.
Events of one aggregate have numbers in the order of their \`version\`, which grows by one with each event; a \`version\`
of 0 means that the events have no order of their own.

The feed of a service has the name \`wonrail.<service>.v1\`. It can be read in two ways:

- \`FeedService.ListEvents\` of the service answers the events behind a cursor per partition, and waits for new ones.
  A feed keeps events for \`FEED_RETENTION_HOURS\`, a week.
- The Kafka topic of the same name carries the same events in the same partitions. Kafka may lose, repeat and reorder
  messages: compare \`feed_number\` with your cursor and read the feed when numbers are missing.

An event may come more than once: recognise it by its \`event_id\`. In Kafka the message's key is the aggregate id, the
payload is the protobuf message, and the headers are these:

| Header | Meaning |
|---|---|
| \`feed_number\` | the event's number in its partition |
| \`event_id\` | the event's unique id, \`evt_…\` |
| \`event_type\` | as below |
| \`aggregate_id\`, \`version\` | the object of the event, and the number of its change |
| \`org_id\` | the organisation |
| \`occurred_at\` | the time of the transaction, ISO 8601 |
| \`request_id\`, \`traceparent\` | the request that caused the event |

Fields of type \`wonrail.….v1.X\` are messages of \`proto/wonrail/…/v1\`.

${sections.join("\n")}`;
}

function renderService(service: string, takers: Map<string, string[]>): string {
  const name = service.replace("chain-", "");
  const { comment, events } = readEvents(readText(`proto/wonrail/${name}/events/v1/events.proto`));
  const parts = new Set(events.flatMap(({ fields }) => fields.map(({ type }) => type.split(" ").at(-1)!)));
  const rendered = events.map((event) =>
    parts.has(event.message) ? renderPart(event) : renderEvent(event, takers.get(event.type) ?? []),
  );
  return `## ${service}\n\nTopic \`wonrail.${name}.v1\`. ${comment}\n\n${rendered.join("\n")}`;
}

/** A message inside of events. */
function renderPart({ message, comment, fields }: Event): string {
  return `### ${message}\n\n${comment === "" ? "A part of the event above." : comment}\n\n${renderFields(fields)}`;
}

function renderEvent({ type, message, comment, fields }: Event, takers: string[]): string {
  const taken = takers.length > 0 ? ` Consumed by ${takers.join(", ")}.` : "";
  return `### ${type}\n\n${comment}${taken} Message \`${message}\`.\n\n${renderFields(fields)}`;
}

function renderFields(fields: Event["fields"]): string {
  const rows = fields.map(({ name, type, comment }) => `| \`${name}\` | ${escaped(type)} | ${comment} |`);
  return `| Field | Type | |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** Parses the linted proto files: a comment precedes its message, and messages are not nested. */
function readEvents(text: string): { comment: string; events: Event[] } {
  const head = commentBefore(text.slice(0, text.indexOf("\npackage ")));
  const events = [...text.matchAll(/((?:^\/\/.*\n)*)^message (\w+) \{\n([\s\S]*?)^\}/gm)].map(
    ([, comment, message, body]) => ({
      type: message!.replace(/\B[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
      message: message!,
      comment: commentBefore(comment!),
      fields: readFields(body!),
    }),
  );
  return { comment: head.replace(/^What .* on the topic [\w.]+\. |^Topic [\w.]+\.$/, ""), events };
}

function readFields(body: string): Event["fields"] {
  return [...body.matchAll(/((?:^ *\/\/.*\n)*)^ *((?:optional |repeated )?[\w.<>, ]+) (\w+) = \d+;/gm)].map(
    ([, comment, type, name]) => ({
      name: name!,
      type: type!.trim(),
      comment: commentBefore(comment!),
    }),
  );
}

function commentBefore(text: string): string {
  return [...text.matchAll(/^ *\/\/ ?(.*)$/gm)].map(([, line]) => line).join(" ");
}

function readEventConsumers(): Map<string, string[]> {
  const takers = new Map<string, string[]>();
  for (const { name, schema } of PROCESSES) {
    if (schema === undefined) continue;
    const consumers = readText(`services/${name}/src/consumers.ts`);
    // Handlers by type, or readers of the payload by type.
    for (const [, type] of consumers.matchAll(/^ {2,8}([a-z]+_[a-z_]+)(?:: (?:async |\w+)?[({]|\(payload)/gm))
      takers.set(type!, [...(takers.get(type!) ?? []), name]);
  }
  return takers;
}

/** A type such as map<string, string> is no HTML tag. */
function escaped(type: string): string {
  return type.replaceAll("<", "&lt;");
}
