/** A server's refusal of a call. */
export class GrpcRefusal extends Error {
  /** gRPC's status code. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = "GrpcRefusal"
    this.status = status
  }
}

/** A connection ended, or a call was given up, before there was an answer. */
export class ConnectionLost extends Error {
  /** Whether the server may have received the call. */
  readonly wasSent: boolean
  /** Whether the caller gave up the call, which says nothing about the connection. */
  readonly isGivenUp: boolean

  constructor(
    message: string,
    {
      wasSent = true,
      isGivenUp = false,
      cause,
    }: { readonly wasSent?: boolean; readonly isGivenUp?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.name = "ConnectionLost"
    this.wasSent = wasSent
    this.isGivenUp = isGivenUp
  }
}
