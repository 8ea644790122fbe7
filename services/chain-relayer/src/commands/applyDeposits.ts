import { type Tx } from "@wonrail/kit/db";
import { type FinalRange } from "./scanFinalized";

export async function applyDeposits(_tx: Tx, _range: FinalRange): Promise<void> {}
