import type { ProcessSpec } from "./ownedProcess";
import { Unit, type UnitDeps, type UnitStatus } from "./unit";

/** A process has a higher stage than the processes it uses, and stops before them. */
export type Stage = 0 | 1 | 2;

/** All processes of one stack, by name. */
export class Supervisor {
  #units = new Map<string, { unit: Unit; stage: Stage }>();
  #deps: UnitDeps;
  /** The last restart of each process. */
  #restarting = new Map<string, Promise<void>>();
  #closed = false;

  constructor(deps: UnitDeps) {
    this.#deps = deps;
  }

  async run(spec: ProcessSpec, stage: Stage): Promise<void> {
    this.#assertOpen();
    const unit = new Unit(spec, this.#deps);
    this.#units.set(spec.name, { unit, stage });
    await unit.start();
  }

  async start(name: string): Promise<void> {
    this.#assertOpen();
    await this.#unit(name).start();
  }

  stop(name: string): Promise<void> {
    return this.#unit(name).stop();
  }

  /** Restarts of one process run one after the other, so each resolves when its own start is ready. */
  restart(name: string): Promise<void> {
    const before = this.#restarting.get(name) ?? Promise.resolve();
    const restarting = before
      .catch(() => undefined)
      .then(async () => {
        await this.stop(name);
        await this.start(name);
      });
    this.#restarting.set(name, restarting);
    return restarting;
  }

  statuses(): UnitStatus[] {
    return [...this.#units.values()].map(({ unit }) => unit.status);
  }

  /** Stops all processes, starting ones too, and refuses new starts. */
  async close(): Promise<void> {
    this.#closed = true;
    const units = [...this.#units.values()];
    for (const stage of [2, 1, 0]) {
      await Promise.all(units.filter((entry) => entry.stage === stage).map(({ unit }) => unit.stop()));
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error("The stack is being stopped.");
  }

  #unit(name: string): Unit {
    const entry = this.#units.get(name);
    if (!entry)
      throw new Error(`There is no process "${name}". There are: ${[...this.#units.keys()].join(", ")}.`);
    return entry.unit;
  }
}
