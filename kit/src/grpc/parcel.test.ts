import { Parcel } from "./parcel";

it("is empty once somebody has taken out what it carries", () => {
  const parcel = new Parcel({ amount: 1 });
  expect(parcel.take()).toEqual({ amount: 1 });
  expect(parcel.take()).toBeUndefined();
});
