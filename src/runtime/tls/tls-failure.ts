import type { NetworkErrorCode } from "../../errors/network-error.js"

interface TlsFailure {
  readonly code: NetworkErrorCode
  readonly advice: string
}

/** Returns the meaning of Node's code for a TLS failure; undefined for any other code. */
export function tlsFailure(systemCode: string): TlsFailure | undefined {
  const judgement = judgements.find(({ codes }) => codes.includes(systemCode))
  if (judgement !== undefined) return { code: "Untrusted", advice: judgement.advice }
  if (!systemCode.startsWith("ERR_SSL_") && systemCode !== "EPROTO") return undefined
  return refusals.test(systemCode) ? refused : { code: "Other", advice: speaksTls }
}

export const speaksTls = "check that the peer uses TLS 1.3 on this port"

/** Problems of the peer's certificate, by the codes of OpenSSL and Node. */
const judgements: readonly { readonly advice: string; readonly codes: readonly string[] }[] = [
  {
    advice: "the peer's certificate must name the dialled host, or `tls.serverName`",
    codes: ["ERR_TLS_CERT_ALTNAME_INVALID", "ERR_TLS_CERT_ALTNAME_FORMAT", "HOSTNAME_MISMATCH"],
  },
  {
    advice: "check the dates of the peer's certificate, and the clocks of both machines",
    codes: ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"],
  },
  {
    advice: "check that `tls.ca` contains the authority that signed the peer's certificate",
    codes: [
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "CERT_SIGNATURE_FAILURE",
      "CERT_UNTRUSTED",
    ],
  },
  {
    advice: "the peer's certificate, or one above it, is not valid for this purpose; have it reissued",
    codes: [
      "CERT_CHAIN_TOO_LONG",
      "CERT_REJECTED",
      "CERT_REVOKED",
      "ERROR_IN_CERT_NOT_AFTER_FIELD",
      "ERROR_IN_CERT_NOT_BEFORE_FIELD",
      "INVALID_CA",
      "INVALID_PURPOSE",
      "PATH_LENGTH_EXCEEDED",
      "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
      "UNABLE_TO_DECRYPT_CERT_SIGNATURE",
      "UNSPECIFIED",
    ],
  },
]

/** The peer reported the problem in a TLS alert. */
const refusals = /_ALERT_(.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/

const refused: TlsFailure = {
  code: "Untrusted",
  advice: "the peer did not accept this node's certificate; check `tls.cert` here and `tls.ca` there",
}
