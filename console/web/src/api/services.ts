import { type AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { type AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { type EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { type LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { type PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { type RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { type WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { type JsonOf } from "./json";

/** The admin services. Only types: the browser speaks JSON. */
type Definitions =
  | typeof AuthAdminServiceService
  | typeof AdminServiceService
  | typeof EventsAdminServiceService
  | typeof LedgerAdminServiceService
  | typeof PaymentAdminServiceService
  | typeof RelayerAdminServiceService
  | typeof WalletAdminServiceService;

type MethodsIn<D> = D extends unknown ? D[keyof D] : never;
type Methods = MethodsIn<Definitions>;
type NameOf<M> = M extends { path: `/${infer Name}` } ? Name : never;

/** A method's name: "wonrail.relayer.v1.RelayerAdminService/PauseQueue". */
export type Method = NameOf<Methods>;

type DefinitionOf<M extends Method> = Extract<Methods, { path: `/${M}` }>;
type RequestMessage<M extends Method> =
  DefinitionOf<M> extends { requestDeserialize: (bytes: Buffer) => infer T } ? T : never;
type AnswerMessage<M extends Method> =
  DefinitionOf<M> extends { responseDeserialize: (bytes: Buffer) => infer T } ? T : never;

/** The console's server adds the operator. Fields with their default value may be left out. */
export type RequestOf<M extends Method> = Partial<Omit<JsonOf<RequestMessage<M>>, "operator">>;
export type AnswerOf<M extends Method> = JsonOf<AnswerMessage<M>>;

/** Every service serves wonrail.common.v1. */
export const SERVICES = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"] as const;
export type ServiceName = (typeof SERVICES)[number];
