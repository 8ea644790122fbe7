import { newId } from "../contract/ids";
import { organisationId, time } from "./options";

test.each([
  ["2027-01-31", "2027-01-31T00:00:00.000Z"],
  ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ["2027-01-31T09:00:00+09:00", "2027-01-31T00:00:00.000Z"],
  ["2027-01-31T09:00Z", "2027-01-31T09:00:00.000Z"],
])("the time %s", (text, iso) => {
  expect(time(text).toISOString()).toBe(iso);
});

test.each([
  "1",
  "soon",
  "2027-02-30",
  "2027-02-29",
  "2027-04-31T00:00:00Z",
  "2027-13-01",
  "2027-01-31T25:00:00Z",
  "2027-01-31T09:00:00",
  "2027-01-31 09:00:00Z",
])("%s is an invalid time", (text) => {
  expect(() => time(text)).toThrow("It must be a time such as");
});

test("accepts an organisation's id, and neither its code nor another id", () => {
  const id = newId("org");
  expect(organisationId(id)).toBe(id);
  for (const text of ["FIRST", "", newId("wal"), id.toUpperCase()])
    expect(() => organisationId(text)).toThrow("It must be an organisation's id");
});
