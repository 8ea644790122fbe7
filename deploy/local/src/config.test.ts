import { inheritedEnv, readConfig } from "./config";

test("a stack lives in the repository unless WONRAIL_HOME says otherwise", () => {
  expect(readConfig({ HOME: "/" }).home).toMatch(/\/\.wonrail$/);
  expect(readConfig({ WONRAIL_HOME: "/srv/wonrail" }).home).toBe("/srv/wonrail");
});

test("an account without a home folder keeps its downloads beside other temporary files", () => {
  expect(readConfig({ HOME: "/" }).cacheDir).toMatch(/wonrail-cache-\d+$/);
  expect(readConfig({ HOME: "/nonexistent" }).cacheDir).toMatch(/wonrail-cache-\d+$/);
  expect(readConfig({ XDG_CACHE_HOME: "/cache" }).cacheDir).toBe("/cache/wonrail");
});

test("an unknown bus is refused with the known ones", () => {
  expect(() => readConfig({ WONRAIL_BUS: "rabbit" })).toThrow('"rabbit" is no bus: choose kafka or feed.');
});

test("NO_COLOR and a dumb terminal turn colours off", () => {
  expect(readConfig({})).toMatchObject({ color: true, animate: true });
  expect(readConfig({ NO_COLOR: "1", TERM: "dumb" })).toMatchObject({ color: false, animate: false });
});

test("children inherit the needed variables and no accidental configuration", () => {
  const env = inheritedEnv({
    PATH: "/bin",
    HOME: "/home/mina",
    DATABASE_URL: "postgres://elsewhere",
    NODE_OPTIONS: "--x",
  });
  expect(env).toEqual({ PATH: "/bin", HOME: "/home/mina" });
});
