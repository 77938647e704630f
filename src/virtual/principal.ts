/** Who makes a call through a gateway, as its `authenticate` has found out. */
export interface Principal {
  /** Names the caller: the same for every request of one caller, and of no other. */
  readonly id: string
  /** When the caller has to be authenticated again: seconds since 1970, as in a JWT. Default: never. */
  readonly exp?: number
  /** What else is known of the caller: plain data. */
  readonly [field: string]: unknown
}

/** Whether another node may have sent this as the caller of a call. */
export function isPrincipal(value: unknown): value is Principal {
  return typeof value === "object" && value !== null && typeof (value as { id?: unknown }).id === "string"
}
