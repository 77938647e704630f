import { NodeLifeline } from "../../src/runtime/lifeline/node-lifeline.js"

/** The program of a holder process: holds a line in a directory, sends its mark, and follows the given one, if any. */
const [directory = "", followed] = process.argv.slice(2)
const lifeline = new NodeLifeline({ directory: () => directory })
const line = await lifeline.hold()
if (followed !== undefined) lifeline.follow(followed, () => {})
// Sending does not keep this process running; listening does.
process.send?.(`${line?.mark}`)
if (followed === undefined) {
  process.once("disconnect", () => process.exit())
  process.on("message", async () => {
    await line?.release()
    process.send?.("released")
  })
}
