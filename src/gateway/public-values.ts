import { InternalRef } from "../actor/internal-ref.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Clock } from "../ports/clock.js"
import type { CodecTools } from "../ports/codec.js"
import { type CodecLimits, codecLimits } from "../serialization/codec-limits.js"
import { JsonReader } from "../serialization/json-reader.js"
import { refuseDeepJson } from "../serialization/json-scan.js"
import { JsonWriter } from "../serialization/json-writer.js"

/**
 * Values as they cross a gateway: JSON, with the marks of the JSON codec for what JSON lacks.
 *
 * Strangers get and send data only. A ref would let them send messages to any plain actor, an instance would
 * run code of a registered class, and an error would tell them what its author meant for the log; all three
 * are refused in both directions.
 */
export class PublicValues {
  readonly #tools: CodecTools

  constructor(clock: Clock) {
    this.#tools = {
      clock,
      types: { named: () => undefined, of: () => undefined },
      refs: {
        // Without this, a ref would be taken for an instance of a class that could be registered.
        isRef: (value) => value instanceof InternalRef,
        textOf: () => {
          throw new TypeError("a ref of an actor cannot be sent to callers of a gateway")
        },
        refOf: () => {
          throw new MalformedBytesError("refs are not accepted here")
        },
      },
    }
  }

  /** Parses JSON that anybody may have sent. Throws a `MalformedBytesError`. */
  parse(bytes: Buffer): unknown {
    refuseDeepJson(bytes, 0, bytes.length, LIMITS)
    try {
      return JSON.parse(utf8.decode(bytes))
    } catch {
      throw new MalformedBytesError("it is not valid JSON")
    }
  }

  /**
   * Makes the value that parsed JSON stands for. Throws a `MalformedBytesError` or an `InvalidMessageError`.
   */
  read(json: unknown): unknown {
    return new JsonReader(this.#tools, LIMITS, NO_ERRORS).read(json)
  }

  /** Throws an `InvalidMessageError` for what cannot leave. */
  write(value: unknown): string {
    return new JsonWriter(this.#tools, LIMITS, NO_ERRORS).write(value)
  }
}

/** Below the defaults for nodes, so that what comes in fits into a message between them. */
const LIMITS: CodecLimits = codecLimits({ maxDepth: 64, maxItems: 100_000 })
const NO_ERRORS = { errors: false }
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
