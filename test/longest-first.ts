import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Begins with the files that take longest, so that no core is idle while the last one goes on alone; ends with the
 * short ones that share processes. Vitest by itself goes by the times of the last run, which a fresh clone has not,
 * and then by the sizes of the files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => this.#rank(one) - this.#rank(other))
  }

  #rank({ moduleId, project }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId)
    const place = LONGEST.findIndex((prefix) => path.startsWith(prefix))
    if (place !== -1) return place
    return LONGEST.length + (project.config.isolate ? 0 : 1)
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
