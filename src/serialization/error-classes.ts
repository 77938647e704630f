import { DeathPactError, NameTakenError, StashOverflowError } from "../actor/actor-errors.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { ActorPathError } from "../address/actor-path-error.js"
import { NodeIdError } from "../address/node-id-error.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import { UriError } from "../address/uri-error.js"
import {
  ActivationError,
  CallCycleError,
  PlacementError,
  UnknownActorTypeError,
  UnknownMethodError,
} from "../errors/actor-call-errors.js"
import {
  ActorStoppedError,
  CancelledError,
  FencedError,
  InvalidMessageError,
  NodeUnreachableError,
  OverloadedError,
  QuarantinedError,
  TimeoutError,
} from "../errors/call-errors.js"
import { ImportError } from "../errors/import-error.js"
import { IndexBuildingError, NotUniqueError } from "../errors/index-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { NetworkError } from "../errors/network-error.js"
import { OperationEndedError, OperationMismatchError } from "../errors/operation-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import { StateError } from "../errors/state-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ErrorForm } from "./error-fields.js"

/**
 * The error classes that are decoded as the same class without registration: those of the language, and
 * those of the folders that this one may import. Other folders register theirs in the setting `types`.
 */
const ofLanguage: readonly ErrorClass[] = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
]

const ofTroupe: readonly ErrorClass[] = [
  ActivationError,
  ActorIdError,
  ActorPathError,
  ActorStoppedError,
  CallCycleError,
  CancelledError,
  DeathPactError,
  FencedError,
  ImportError,
  IndexBuildingError,
  InvalidMessageError,
  MalformedBytesError,
  NameTakenError,
  NetworkError,
  NodeIdError,
  NodeUnreachableError,
  NotUniqueError,
  OverloadedError,
  PathResolutionError,
  OperationEndedError,
  OperationMismatchError,
  PlacementError,
  QuarantinedError,
  SettingsError,
  StashOverflowError,
  StateError,
  StoreUnavailableError,
  TimeoutError,
  UnknownActorTypeError,
  UnknownMethodError,
  UriError,
]

interface ErrorClass {
  readonly name: string
  readonly prototype: Error
}

const classes = [...ofLanguage, ...ofTroupe]
const troupeNames: ReadonlySet<string> = new Set(ofTroupe.map(({ name }) => name))
const names = new Map<object, string>(classes.map(({ prototype, name }) => [prototype, name]))
const prototypes = new Map<string, object>(classes.map(({ prototype, name }) => [name, prototype]))

/** Returns the name on the wire of the class with this prototype; undefined if it is not a known class. */
export function errorClassOf(prototype: object): string | undefined {
  return names.get(prototype)
}

/** Returns how to send an error that is not registered; `name` is that of its class, if known. */
export function formOf(name: string | undefined, { stacks }: { readonly stacks: boolean }): ErrorForm {
  return { keepsClass: name !== undefined, all: name !== undefined && troupeNames.has(name), stacks }
}

/** Returns the prototype for a name; an unknown class, such as one of a newer node, becomes `Error`. */
export function errorPrototype(name: string): object {
  return prototypes.get(name) ?? Error.prototype
}
