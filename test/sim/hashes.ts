import { tracedRun } from "./everything.js"

/** For a process of its own: prints the hash of each seed up to the one that it is given. */
const hashes: string[] = []
for (let seed = 1; seed <= Number(process.argv[2]); seed += 1) hashes.push((await tracedRun(seed)).hash)
console.log(JSON.stringify(hashes))
