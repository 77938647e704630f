import { ActorId } from "../address/actor-id.js"
import type { Activation } from "./activation.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorHost } from "./actor-host.js"
import { ActorTarget } from "./actor-target.js"
import { ActorType } from "./actor-type.js"
import { type HandleShape, handleShape } from "./handle.js"

/** Creates handles. */
export class Handles {
  readonly #host: ActorHost
  readonly #shapes = new Map<string, HandleShape>()
  /** The types that this node does not host, if their classes were passed to `of`. */
  readonly #unhosted = new Map<string, ActorType>()

  constructor(host: ActorHost) {
    this.#host = host
  }

  /** Creates a handle. Throws an `ActorIdError` if the key is invalid. */
  of(type: ActorClass | string, key: string, from?: Activation): unknown {
    const name = typeof type === "function" ? (type.type ?? type.name) : type
    const id = ActorId.of(this.#host.options.namespace, name, key)
    const Shape = this.#shapeOf(name, type)
    return new Shape(new ActorTarget(this.#host, this.#unhosted, id, from), undefined, false)
  }

  #shapeOf(name: string, type: ActorClass | string): HandleShape {
    const known = this.#shapes.get(name)
    if (known !== undefined) return known
    const hosted = this.#host.types.get(name)
    if (hosted === undefined && typeof type === "string") return UntypedHandle
    const described = hosted ?? new ActorType(type as ActorClass)
    if (hosted === undefined) this.#unhosted.set(name, described)
    const shape = handleShape(described.methodNames)
    this.#shapes.set(name, shape)
    return shape
  }
}

/** The class of handles to types of which this node knows only the name. */
const UntypedHandle = handleShape([])
