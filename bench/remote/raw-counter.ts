import { serveRaw } from "./raw-server.js"

let counted = 0

/** Frames without a number are counted, any other asks how many there were since the last time. */
serveRaw((id) => {
  if (id === 0) {
    counted += 1
    return undefined
  }
  const answer = Buffer.alloc(4)
  answer.writeUInt32LE(counted)
  counted = 0
  return answer
})
