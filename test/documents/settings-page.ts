import { type Setting, settingsOf } from "./setting.js"

/** A section of the page: an interface of the sources, and what its settings are for. */
interface Section {
  readonly title: string
  readonly about: string
  readonly file: string
  readonly interface: string
  /** Members that are part of the interface, but not for users to set. */
  readonly except?: readonly string[]
  /** Before the names, where the settings are part of a group. */
  readonly prefix?: string
  /** Whether all settings may be left out, although the interface has them after defaults were applied. */
  readonly isPartial?: boolean
  /** Types that are clearer than those of the interface, by setting. */
  readonly types?: Readonly<Record<string, string>>
}

const sections: readonly Section[] = [
  {
    title: "ActorSystem.start",
    about: "`ActorSystem.start(settings)` starts a node. Only `namespace` is required.",
    file: "src/system/settings.ts",
    interface: "ActorSystemSettings",
    types: { actors: "ActorClass[]" },
  },
  {
    title: "Communication with other nodes",
    about:
      "Further settings of `ActorSystem.start`. A node that has other nodes sets `listen`, and keeps the defaults of the rest until there is a reason to change them. [How nodes communicate](remoting.md).",
    file: "src/system/remote-settings.ts",
    interface: "RemoteSettings",
    types: { types: "readonly WireType[]" },
  },
  {
    title: "Membership",
    about:
      "Further settings of `ActorSystem.start`, for nodes that listen. [Who is a member](membership.md).",
    file: "src/system/membership-settings.ts",
    interface: "MembershipSettings",
  },
  {
    title: "heartbeat",
    about: "The group `heartbeat` of `ActorSystem.start`.",
    file: "src/system/membership-settings.ts",
    interface: "HeartbeatSettings",
    prefix: "heartbeat.",
  },
  {
    title: "splitBrain",
    about: "The group `splitBrain` of `ActorSystem.start`.",
    file: "src/system/membership-settings.ts",
    interface: "SplitBrainSettings",
    prefix: "splitBrain.",
  },
  {
    title: "listen",
    about: "The group `listen` of `ActorSystem.start`.",
    file: "src/system/remote-settings.ts",
    interface: "ListenSettings",
    prefix: "listen.",
  },
  {
    title: "listen.tls",
    about: "The group `listen.tls` of `ActorSystem.start`.",
    file: "src/ports/network.ts",
    interface: "TlsOptions",
    prefix: "listen.tls.",
  },
  {
    title: "sqliteStore",
    about: "`sqliteStore(options)` of `troupe/sqlite`. [What stores guarantee](stores.md).",
    file: "src/stores/sqlite/sqlite-store.ts",
    interface: "SqliteStoreOptions",
  },
  {
    title: "etcdStore",
    about: "`etcdStore(options)` of `troupe/etcd`. [What etcd is for](stores.md#etcd).",
    file: "src/stores/etcd/etcd-options.ts",
    interface: "EtcdStoreOptions",
    types: { auth: "{ user, password }" },
  },
  {
    title: "etcdStore: tls",
    about: "The group `tls` of `etcdStore`.",
    file: "src/stores/etcd/grpc-connection.ts",
    interface: "EtcdTlsOptions",
    prefix: "tls.",
  },
  {
    title: "Classes of actors",
    about: "Static members of a class that extends `Actor`. [Virtual actors](virtual-actors.md).",
    file: "src/virtual/actor-class.ts",
    interface: "ActorClass",
    except: ["name", "prototype"],
  },
  {
    title: "Methods of actors",
    about: "The options of one method, in `static methods` of its class.",
    file: "src/virtual/actor-class.ts",
    interface: "MethodOptions",
  },
  {
    title: "Calls",
    about: "`withOptions(handle, options)`.",
    file: "src/virtual/handle.ts",
    interface: "CallOptions",
  },
  {
    title: "Asks",
    about: "The last argument of `ask`.",
    file: "src/actor/ask.ts",
    interface: "AskOptions",
  },
  {
    title: "Plain actors",
    about: "The last argument of `spawn`. [Writing actors](actors.md).",
    file: "src/actor/actor-context.ts",
    interface: "SpawnOptions",
  },
  {
    title: "consoleLogger",
    about: "`consoleLogger(options)` makes the logger that a system has by default.",
    file: "src/runtime/console-logger.ts",
    interface: "ConsoleLoggerOptions",
  },
  {
    title: "Codecs",
    about: "`binaryCodec(limits)` and `jsonCodec(limits)`. All nodes of a cluster have the same.",
    file: "src/serialization/codec-limits.ts",
    interface: "CodecLimits",
    isPartial: true,
  },
]

const introduction = `# Settings

Every setting, its type, its meaning and its default. This page is made from the doc comments of the
types, which an editor shows too: \`npx vitest run test/documents -u\` writes it again. A setting that
does not exist, or has an invalid value, makes \`start\` reject with a \`SettingsError\` that names it.
Times are in milliseconds where the name ends in \`Ms\`.`

/** Returns the settings of each section, by its title. */
export function documentedSettings(): ReadonlyMap<string, readonly Setting[]> {
  return new Map(sections.map((section) => [section.title, settingsIn(section)]))
}

function settingsIn({
  file,
  interface: name,
  except = [],
  prefix = "",
  isPartial = false,
  types = {},
}: Section) {
  return settingsOf(file, name)
    .filter(({ path }) => !except.includes(path))
    .map(({ path, type, isRequired, meaning }) => ({
      path: prefix + path,
      type: types[path] ?? type?.replace(/ \| undefined$/, ""),
      isRequired: isRequired && !isPartial,
      meaning,
    }))
}

/** Returns the text of docs/settings.md. */
export function settingsPage(): string {
  const settings = documentedSettings()
  const texts = sections.map(({ title, about }) => {
    const items = (settings.get(title) ?? []).map((setting) => wrapped(`- ${itemOf(setting)}`, "  "))
    return [`## ${title}`, wrapped(about, ""), items.join("\n")].join("\n\n")
  })
  return `${[introduction, ...texts].join("\n\n")}\n`
}

function itemOf({ path, isRequired, type, meaning }: Setting): string {
  const remark = [...(type === undefined ? [] : [`\`${type}\``]), ...(isRequired ? ["required"] : [])]
  return `**\`${path}\`**${remark.length === 0 ? "" : ` (${remark.join(", ")})`}: ${meaning}`
}

const MOST_COLUMNS = 100

/** Breaks a text at its spaces, except those within code. */
function wrapped(text: string, indentation: string): string {
  const lines: string[] = []
  let line = ""
  for (const word of text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    if (line !== "" && `${line} ${word}`.length > MOST_COLUMNS) {
      lines.push(line)
      line = indentation + word
    } else {
      line = line === "" ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join("\n")
}
