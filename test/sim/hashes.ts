import { tracedRun } from "./everything.js"

/** Run in a separate process: prints the hash of each seed up to the given one. */
const hashes: string[] = []
for (let seed = 1; seed <= Number(process.argv[2]); seed += 1) hashes.push((await tracedRun(seed)).hash)
console.log(JSON.stringify(hashes))
