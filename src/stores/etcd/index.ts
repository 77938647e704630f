export type { EtcdStoreOptions } from "./etcd-options.js"
export { etcdStore } from "./etcd-store.js"
export type { EtcdTlsOptions } from "./grpc-connection.js"
export { renewEpoch } from "./renew-epoch.js"
