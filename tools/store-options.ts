import type { StoreProvider } from "../src/index.js"
import { etcdStore } from "../src/stores/etcd/index.js"
import { postgresStore } from "../src/stores/postgres/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"

/** A store as one process tells another, which opens it. */
export type StoreOptions =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string; readonly ca: string | undefined }
  | {
      readonly kind: "etcd"
      readonly endpoints: readonly string[]
      readonly auth: { readonly user: string; readonly password: string }
      readonly ca: string | undefined
    }

export type StoreKind = StoreOptions["kind"]

export const storeKinds: readonly StoreKind[] = ["sqlite", "postgres", "etcd"]

export function storeOf(options: StoreOptions): StoreProvider {
  switch (options.kind) {
    case "sqlite":
      return sqliteStore({ file: options.file })
    case "postgres": {
      const { url, ca } = options
      return postgresStore({ url, ...(ca === undefined ? {} : { ssl: { ca } }) })
    }
    case "etcd": {
      const { endpoints, auth, ca } = options
      return etcdStore({ endpoints, auth, tls: ca === undefined ? undefined : { ca } })
    }
  }
}
