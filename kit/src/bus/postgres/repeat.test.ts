import { repeat } from "./repeat";

describe("repeat", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const counting = (fails: () => boolean = () => false) => {
    const state = { runs: 0, troubles: 0 };
    const work = async (): Promise<void> => {
      state.runs += 1;
      if (fails()) throw new Error("trouble");
    };
    return { state, repeated: repeat(10_000, work, () => (state.troubles += 1)) };
  };

  it("works every so often, until it is stopped", async () => {
    const { state, repeated } = counting();
    await jest.advanceTimersByTimeAsync(30_000);
    expect(state.runs).toBe(3);
    await repeated.stop();
    await jest.advanceTimersByTimeAsync(30_000);
    expect(state.runs).toBe(3);
  });

  it("works sooner when asked, and once more when asked while it works", async () => {
    const { state, repeated } = counting();
    repeated.soon();
    repeated.soon();
    repeated.soon();
    await jest.advanceTimersByTimeAsync(0);
    expect(state.runs).toBe(2);
    await repeated.now();
    expect(state.runs).toBe(3);
    await repeated.stop();
  });

  it("reports the first failure of a row, and tries again soon", async () => {
    let failing = true;
    const { state, repeated } = counting(() => failing);
    await repeated.now();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(state).toEqual({ runs: 4, troubles: 1 });
    failing = false;
    await jest.advanceTimersByTimeAsync(1_000);
    failing = true;
    await repeated.now();
    expect(state.troubles).toBe(2);
    await repeated.stop();
  });
});
