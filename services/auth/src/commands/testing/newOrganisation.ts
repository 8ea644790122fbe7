import { type Operations } from "../../app";
import { type NewOrganisation } from "../../domain/organisations";
import { type CreatedOrganisation } from "../createOrganisation";

let made = 0;

/** With a code that no other of the same test file has. */
export function newOrganisation(
  { createOrganisation }: Pick<Operations, "createOrganisation">,
  more: Partial<NewOrganisation> = {},
): Promise<CreatedOrganisation> {
  made += 1;
  return createOrganisation({ name: "A bank", code: `ORG-${made}`, actor: "operator:test", ...more });
}
