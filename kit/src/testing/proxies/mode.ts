export type ProxyMode =
  | { kind: "pass" }
  | { kind: "delay"; delayMs: number }
  /**
   * A slow and lossy network under TCP: late and few bytes, and pauses for lost segments. `random`
   * decides the lateness.
   */
  | { kind: "slow"; random: () => number }
  /** Keeps all bytes, also the ends of connections, until the mode changes. */
  | { kind: "clogged" }
  /**
   * Accepts everything and forwards nothing, in both directions, like a network that swallows
   * packets.
   */
  | { kind: "blackhole" }
  /**
   * Open connections stay open and silent for ever; new ones work. A vanished peer leaves this
   * state.
   */
  | { kind: "halfOpen" }
  /** Requests arrive, answers never do. */
  | { kind: "dropResponses" }
  /** Resets every open and every new connection. */
  | { kind: "reset" }
  /** Forwards a part of the target's next answer, and closes the connection. */
  | { kind: "cutAnswers" }
  /** Resets each connection after this many bytes from the target. */
  | { kind: "closeAfterBytes"; bytes: number };
