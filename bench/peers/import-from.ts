import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/**
 * A module of a peer, from the folder that it is installed in. The compiler does not know it, since the
 * project has neither the peer nor its types: what is made of it is checked by running it.
 */
// biome-ignore lint/suspicious/noExplicitAny: the peer's types are not there when this is compiled
export function importFrom(folder: string, specifier: string): Promise<any> {
  const path = createRequire(join(folder, "package.json")).resolve(specifier)
  return import(pathToFileURL(path).href)
}
