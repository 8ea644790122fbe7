import { type Fault } from "./fault";
import { CHAIN_FAULTS } from "./kinds/chain";
import { HA_FAULTS } from "./kinds/highAvailability";
import { LINK_FAULTS } from "./kinds/links";
import { PARTNER_FAULTS } from "./kinds/partners";
import { PROCESS_FAULTS } from "./kinds/processes";
import { STORE_FAULTS } from "./kinds/stores";

/** All kinds of faults. */
export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...LINK_FAULTS,
  ...STORE_FAULTS,
  ...HA_FAULTS,
  ...CHAIN_FAULTS,
  ...PARTNER_FAULTS,
];
