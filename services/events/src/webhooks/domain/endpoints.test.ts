import { createEndpoints } from "./endpoints";

test("a failing endpoint is tried by one attempt at a time until one succeeds", () => {
  const endpoints = createEndpoints();
  const limitOf = (id: string) =>
    endpoints.limits().exceptions.find(({ webhookId }) => webhookId === id)?.limit;
  for (let count = 0; count < 20; count += 1) endpoints.began("slow");
  expect(limitOf("slow")).toBe(0);
  for (let count = 0; count < 9; count += 1) endpoints.ended("slow", false);
  expect(limitOf("slow")).toBe(9);
  for (let count = 0; count < 11; count += 1) endpoints.ended("slow", false);
  expect(limitOf("slow")).toBe(1);
  endpoints.began("slow");
  expect(limitOf("slow")).toBe(0);
  endpoints.ended("slow", true);
  expect(endpoints.limits()).toEqual({ perWebhook: 20, exceptions: [] });
});
