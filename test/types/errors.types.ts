import {
  type ActorIdError,
  ActorPath,
  ActorPathError,
  type NetworkError,
  type PathResolutionError,
  TroupeError,
} from "../../src/index.js"

/** What the compiler holds about errors. Nothing here runs. */
export function codes(
  path: ActorPathError,
  id: ActorIdError,
  resolution: PathResolutionError,
  network: NetworkError,
) {
  return [
    // @ts-expect-error TS2367: no path fails with this code
    path.code === "Nope",
    // @ts-expect-error TS2367: codes are written as they are declared
    id.code === "tooLong",
    // @ts-expect-error TS2367: each error has codes of its own
    resolution.code === "Refused",
    // @ts-expect-error TS2367: the system's own codes are in the message
    network.code === "ECONNREFUSED",
    path.code === "InvalidSegment",
    id.code === "TooLong",
    resolution.code === "UidReserved",
    network.code === "Refused",
  ]
}

export function handled(error: NetworkError, text: string) {
  // @ts-expect-error TS2540: an error says what happened, once
  error.code = "Other"
  // @ts-expect-error TS2511: every error is of a kind
  new TroupeError("something went wrong")

  const path = ActorPath.tryParse(text)
  // @ts-expect-error TS2339: it may be an error, and one has to look
  path.segments
  return path instanceof ActorPathError ? path.code : path.segments
}
