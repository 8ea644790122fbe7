import { Parcel } from "./parcel";

it("is empty after its content was taken", () => {
  const parcel = new Parcel({ amount: 1 });
  expect(parcel.take()).toEqual({ amount: 1 });
  expect(parcel.take()).toBeUndefined();
});
