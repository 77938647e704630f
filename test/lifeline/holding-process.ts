import { NodeLifeline } from "../../src/runtime/lifeline/node-lifeline.js"

/** For a process of its own: holds a line in a directory, says its mark, and follows another if it is given one. */
const [directory = "", followed] = process.argv.slice(2)
const lifeline = new NodeLifeline({ directory: () => directory })
const line = await lifeline.hold()
if (followed !== undefined) lifeline.follow(followed, () => {})
process.stdout.write(`${line?.mark}\n`)
if (followed === undefined) {
  process.stdin.once("data", async () => {
    await line?.release()
    process.stdout.write("released\n")
  })
}
