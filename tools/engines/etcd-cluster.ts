import { type EtcdOptions, EtcdServer } from "./etcd-server.js"

/** An etcd cluster of a test. Each member has the verbs of a server. */
export class EtcdCluster {
  readonly members: readonly EtcdServer[]

  private constructor(members: readonly EtcdServer[]) {
    this.members = members
  }

  static async start({
    size = 3,
    ...options
  }: EtcdOptions & { readonly size?: number } = {}): Promise<EtcdCluster> {
    const cluster = new EtcdCluster(await EtcdServer.members(size, options))
    // A member is ready when it knows of a leader, for which a majority has to run.
    await Promise.all(cluster.members.map((member) => member.run()))
    if (options.authentication === true) {
      await cluster.members[0]?.authenticate()
      for (const member of cluster.members) member.expectAuthentication()
    }
    return cluster
  }

  /** Where clients connect: one address for each member. */
  get urls(): readonly string[] {
    return this.members.map(({ url }) => url)
  }

  /** The member that leads, among those that run. */
  async leader(): Promise<EtcdServer> {
    for (const member of this.members) {
      if (member.isRunning && (await member.isLeader())) return member
    }
    throw new Error("no member of the etcd cluster leads at this time")
  }

  /** Kills the members and removes their files. */
  async remove(): Promise<void> {
    await Promise.all(this.members.map((member) => member.remove()))
  }
}
