import type { CodecTools } from "../../src/ports/codec.js"

/** For codecs of nothing but data: there are no refs and no classes. */
export const PLAIN: CodecTools = {
  refs: {
    isRef: () => false,
    textOf: String,
    refOf: () => {
      throw new Error("there are no refs here")
    },
  },
  types: { named: () => undefined, of: () => undefined },
}
