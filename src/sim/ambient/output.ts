import { currentWorld, outsideWorlds } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"

/**
 * Replaces the standard output and error, which code in a world may write to.
 *
 * The stream belongs to the process and outlives the world, so its own work is done outside the world. The
 * code in the world gets no feedback: the stream always has room, and has always written at once, because the
 * seed does not determine the behavior of a pipe's reader.
 */
export function replaceOutput(patches: Patches): void {
  for (const stream of [process.stdout, process.stderr]) {
    patches.replace<Write>(stream, "write", (real) =>
      imitating(real, function (this: unknown, ...args) {
        const world = currentWorld()
        if (world === undefined) return Reflect.apply(real, this, args)
        const written = args.find((arg) => typeof arg === "function")
        const [chunk, encoding] = args.filter((arg) => arg !== written)
        outsideWorlds(() => Reflect.apply(real, this, [chunk, encoding]))
        if (written !== undefined) world.microtask(() => written())
        return true
      }),
    )
  }
}

type Write = (...args: unknown[]) => boolean
