import { tx } from "@wonrail/kit/db";
import { type Deps } from "./deps";
import { changeOrganisation, type Organisation, type OrganisationTerms } from "../domain/organisations";
import { releasesMoney } from "../domain/releasesMoney";
import { organisationChanged } from "../events";
import { lockOrganisation, updateOrganisation } from "../store/organisations";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { type Actor, recordChange } from "./recordChange";

/**
 * Changes an organisation's terms. Gateways learn of it at once, payment by event, and chain-
 * relayer asks.
 */
export async function setOrganisation(
  { db }: Deps,
  input: { code: string; change: Partial<OrganisationTerms>; actor: Actor },
): Promise<Organisation> {
  const { organisation: found } = await mustFindOrganisation(db, input.code);
  return tx(db, async (tx) => {
    const { organisation: before, secretHash, now } = (await lockOrganisation(tx, found.orgId))!;
    const after = changeOrganisation(before, input.change, now);
    await updateOrganisation(tx, after, secretHash);
    const details = differences(before, after);
    await recordChange(tx, {
      orgId: after.orgId,
      at: now,
      actor: input.actor,
      action: "organisation_changed",
      subject: after.code,
      details,
      ...(releasesMoney(before, after) ? { effect: effectOf(after.code, details) } : {}),
      events: [organisationChanged(after)],
      changes: [{ kind: "organisation_changed", orgId: after.orgId, version: after.version.toString() }],
    });
    return after;
  });
}

type Differences = Record<string, { from: string; to: string }>;

function effectOf(code: string, details: Differences): string {
  const changes = Object.entries(details).map(([term, { from, to }]) => `${term} from ${from} to ${to}`);
  return `Change ${code}: ${changes.join(", ")}.`;
}

/** The old and the new value of each changed term. */
function differences(before: Organisation, after: Organisation): Differences {
  const terms = Object.keys(after) as (keyof Organisation)[];
  const ignored = new Set<keyof Organisation>(["version", "updatedAt"]);
  return Object.fromEntries(
    terms
      .filter((term) => !ignored.has(term) && String(before[term]) !== String(after[term]))
      .map((term) => [term, { from: text(before[term]), to: text(after[term]) }]),
  );
}

function text(value: Organisation[keyof Organisation]): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
