import {
  type ActorIdError,
  ActorPath,
  ActorPathError,
  type NetworkError,
  type PathResolutionError,
  TroupeError,
} from "../../src/index.js"

/** What the compiler accepts and refuses about errors. Nothing here runs. */
export function codes(
  path: ActorPathError,
  id: ActorIdError,
  resolution: PathResolutionError,
  network: NetworkError,
) {
  return [
    // @ts-expect-error TS2367: ActorPathError does not have this code
    path.code === "Nope",
    // @ts-expect-error TS2367: codes are case-sensitive
    id.code === "tooLong",
    // @ts-expect-error TS2367: this is a code of another error
    resolution.code === "Refused",
    // @ts-expect-error TS2367: codes of the operating system are not error codes
    network.code === "ECONNREFUSED",
    path.code === "InvalidSegment",
    id.code === "TooLong",
    resolution.code === "UidReserved",
    network.code === "Refused",
  ]
}

export function handled(error: NetworkError, text: string) {
  // @ts-expect-error TS2540: the fields of an error are read-only
  error.code = "Other"
  // @ts-expect-error TS2511: TroupeError is abstract
  new TroupeError("something went wrong")

  const path = ActorPath.tryParse(text)
  // @ts-expect-error TS2339: tryParse may return an error, which must be checked
  path.segments
  return path instanceof ActorPathError ? path.code : path.segments
}
