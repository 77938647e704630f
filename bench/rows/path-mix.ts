const authorities = [
  "troupe://prod",
  "troupe.tcp://prod@10.0.0.7:25520",
  "troupe.tcp://prod@node-3.eu-west.example.com:25520",
  "troupe.tcp://prod@[2001:db8::17]:25520",
]

const places = [
  "/user/greeter",
  "/user/orders/order-48213",
  "/user/chat/room%20of%20ada/members/bob",
  "/user/accounts/alice@example.com",
  "/system/sharding/User/shard-42/user-123",
  "/system/temp/ask-9917",
  "/user/a/b/c/d/e/f",
  "/user/import/file%20one.csv/line-7",
]

const uids = ["", "#731904552"]

/** 64 paths as a node meets them: near and far, with a uid and without, plain names and escaped ones. */
export const pathMix: readonly string[] = authorities.flatMap((authority) =>
  places.flatMap((place) => uids.map((uid) => authority + place + uid)),
)
