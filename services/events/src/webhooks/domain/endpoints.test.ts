import { createEndpoints } from "./endpoints";

const ROOM = 2_000;

test("a failing endpoint is tried by one attempt at a time until one succeeds", () => {
  const endpoints = createEndpoints();
  const limitOf = (id: string) =>
    endpoints.limits(ROOM).exceptions.find(({ webhookId }) => webhookId === id)?.limit;
  for (let count = 0; count < 20; count += 1) endpoints.began("slow");
  expect(limitOf("slow")).toBe(0);
  for (let count = 0; count < 9; count += 1) endpoints.ended("slow", false);
  expect(limitOf("slow")).toBe(9);
  endpoints.ended("slow", false);
  expect(limitOf("slow")).toBe(0);
  for (let count = 0; count < 10; count += 1) endpoints.ended("slow", false);
  expect(limitOf("slow")).toBe(1);
  endpoints.began("slow");
  expect(limitOf("slow")).toBe(0);
  endpoints.ended("slow", true);
  expect(endpoints.limits(ROOM)).toEqual({ perWebhook: 20, exceptions: [] });
});

test("an endpoint with running attempts keeps its place after a success", () => {
  const endpoints = createEndpoints();
  for (let count = 0; count < 2; count += 1) endpoints.began("busy");
  endpoints.ended("busy", true);
  expect(endpoints.limits(ROOM).exceptions).toEqual([{ webhookId: "busy", limit: 19 }]);
});

test("a hundred endpoints that hang leave room for several attempts of any other endpoint", () => {
  const endpoints = createEndpoints();
  let room = ROOM;
  // Each hanging endpoint takes what it may until none may take more.
  for (let taken = -1; taken !== 0;) {
    taken = 0;
    for (let count = 0; count < 100; count += 1) {
      const { perWebhook, exceptions } = endpoints.limits(room);
      const limit = exceptions.find(({ webhookId }) => webhookId === `${count}`)?.limit ?? perWebhook;
      for (let begun = 0; begun < limit; begun += 1) endpoints.began(`${count}`);
      taken += limit;
      room -= limit;
    }
  }
  expect(room).toBeGreaterThan(ROOM / 10);
  expect(endpoints.limits(room).perWebhook).toBeGreaterThan(1);
});
