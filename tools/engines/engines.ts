import { accessSync, constants, existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { chromiumPrograms } from "./chromium-package.js"
import { debianPackages } from "./debian-packages.js"
import { postgresPrograms } from "./postgres-package.js"

/** The programs of each engine. */
export interface EnginePrograms {
  readonly "postgres-15": PostgresPrograms
  readonly "postgres-18": PostgresPrograms
  readonly "pg-dump-15": DumpPrograms
  readonly pgbouncer: PgBouncerPrograms
  readonly etcd: EtcdPrograms
  readonly faketime: FaketimeLibrary
  readonly chromium: BrowserPrograms
}

export type EngineName = keyof EnginePrograms

export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
}

/** `pg_dump` and `psql` of PostgreSQL 15, which the packages of the npm registry do not have. */
export interface DumpPrograms {
  readonly pgDump: string
  readonly psql: string
  readonly libraryPath: string
}

export interface PgBouncerPrograms {
  readonly pgbouncer: string
  readonly libraryPath: string
}

export interface EtcdPrograms {
  readonly etcd: string
  readonly etcdctl: string
  /** Restores snapshots: `etcdutl` where there is one, or else `etcdctl`. */
  readonly etcdutl: string
}

/** The library by which the clock of a program is moved; see `moved-clock.ts`. */
export interface FaketimeLibrary {
  readonly library: string
}

/** A browser without windows, and the module by which a test drives it. */
export interface BrowserPrograms {
  readonly executable: string
  readonly puppeteer: string
  /** Undefined if the host has the libraries of the browser. */
  readonly libraryPath: string | undefined
}

export type Obtained<Name extends EngineName> =
  | { readonly kind: "obtained"; readonly programs: EnginePrograms[Name] }
  | Missing

/** An engine that could not be had, with the reason in one line. */
export interface Missing {
  readonly kind: "missing"
  readonly engine: EngineName
  readonly reason: string
}

/** Fetches an engine at its first use. Any number of processes may do so at the same time. */
export async function obtain<Name extends EngineName>(engine: Name): Promise<Obtained<Name>> {
  try {
    return { kind: "obtained", programs: await SOURCES[engine]() }
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARACTERS)
    return { kind: "missing", engine, reason }
  }
}

/** An engine is needed that could not be had. */
export class EngineMissingError extends Error {
  override readonly name = "EngineMissingError"

  constructor({ engine, reason }: Missing) {
    super(`${engine} could not be had: ${reason}`)
  }
}

/** The same for those that cannot do without it. */
export async function programsOf<Name extends EngineName>(engine: Name): Promise<EnginePrograms[Name]> {
  const obtained = await obtain(engine)
  if (obtained.kind === "missing") throw new EngineMissingError(obtained)
  return obtained.programs
}

const MAX_REASON_CHARACTERS = 300

const SOURCES: { readonly [Name in EngineName]: () => Promise<EnginePrograms[Name]> } = {
  "postgres-15": () => postgres(15),
  "postgres-18": () => postgres(18),
  "pg-dump-15": async () => {
    const usr = join(await debianPackages(["postgresql-client-15", "libpq5", "libldap-2.5-0"]), "usr")
    const bin = join(usr, "lib/postgresql/15/bin")
    return { pgDump: join(bin, "pg_dump"), psql: join(bin, "psql"), libraryPath: librariesIn(usr) }
  },
  pgbouncer: async () => {
    const usr = join(await debianPackages(["pgbouncer", "libc-ares2", "libevent-2.1-7"]), "usr")
    return { pgbouncer: join(usr, "sbin/pgbouncer"), libraryPath: librariesIn(usr) }
  },
  etcd: async () => {
    const [etcd, etcdctl] = [onPath("etcd"), onPath("etcdctl")]
    if (etcd !== undefined && etcdctl !== undefined) {
      return { etcd, etcdctl, etcdutl: onPath("etcdutl") ?? etcdctl }
    }
    const bin = join(await debianPackages(["etcd-server", "etcd-client"]), "usr/bin")
    return { etcd: join(bin, "etcd"), etcdctl: join(bin, "etcdctl"), etcdutl: join(bin, "etcdctl") }
  },
  chromium: chromiumPrograms,
  faketime: async () => {
    const installed = join(librariesIn("/usr"), FAKETIME)
    if (existsSync(installed)) return { library: installed }
    const usr = join(await debianPackages(["libfaketime"]), "usr")
    return { library: join(librariesIn(usr), FAKETIME) }
  },
}

const FAKETIME = "faketime/libfaketime.so.1"

async function postgres(version: 15 | 18): Promise<PostgresPrograms> {
  if (process.getuid?.() === 0 && onPath("setpriv") === undefined) {
    throw new Error("PostgreSQL refuses to run as root, and setpriv is not there to run it as another user")
  }
  const bin = await postgresPrograms(version)
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") }
}

function onPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Debian keeps libraries in a folder that is named for the architecture. */
function librariesIn(usr: string): string {
  const triple = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu"
  return join(usr, "lib", triple)
}
