/** The store as another thread of the process opens it. */
export { etcdStore as provider } from "./etcd-store.js"
