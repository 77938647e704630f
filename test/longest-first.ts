import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Begins with the files that take longest, so that no core is idle while the last one goes on alone. Those that share
 * processes come after all others, as a process is kept only if the next file in the queue may use it, too. Vitest by
 * itself goes by the times of the last run, which a fresh clone has not, and then by the sizes of the files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => this.#rank(one) - this.#rank(other))
  }

  #rank({ moduleId, project }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId)
    const place = LONGEST.findIndex((prefix) => path.startsWith(prefix))
    const rank = place === -1 ? LONGEST.length : place
    return project.config.isolate ? rank : LONGEST.length + 1 + rank
  }
}

/** Tens of seconds each, the longest first. */
const LONGEST = [
  "workloads/planted/plantings",
  "spec/",
  "test/chaos/",
  "test/demo/",
  "test/remote/reconnects",
  "test/remote/hostile-",
  "test/examples/",
  "workloads/",
  "test/stores/",
  "test/tidy/",
]
