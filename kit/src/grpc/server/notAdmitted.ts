/**
 * A call that the caller or the operator may not make. The answer is PERMISSION_DENIED, without a
 * code of the error table: partners never see it.
 */
export class NotAdmitted extends Error {
  override readonly name = "NotAdmitted";
}
