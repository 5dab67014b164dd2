import { ExitError } from '../exit-codes.ts'

/** Errors that mean: the server was reached, and its certificate is not trusted. */
const UNTRUSTED =
  /^(?:CERT_UNTRUSTED|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|CERT_SIGNATURE)/
/** The same for a certificate that is trusted, but not now or not for this name. */
const UNFIT = /^(?:CERT_|ERR_TLS_CERT_)/
/** OpenSSL's errors for an answer that is not TLS. */
const NOT_TLS = /wrong version number|packet length too long/i
/** Errors of an HTTP client for an answer that is TLS, or for a connection that a TLS server closes. */
const NOT_HTTP = /^(?:HPE_|ECONNRESET$)/

/** Whether a server was reached and its certificate was refused. */
export function isRefusedCertificate({ code = '' }: NodeJS.ErrnoException): boolean {
  return UNTRUSTED.test(code) || UNFIT.test(code)
}

/** Advice; empty where the message is enough. */
function adviceOf({ code = '', message }: NodeJS.ErrnoException, isTls: boolean, hasCertificates: boolean): string {
  if (UNTRUSTED.test(code)) {
    return hasCertificates
      ? '; no certificate of --ca-file vouches for it'
      : '; give the certificate of its issuer with --ca-file, or ca_file in a profile'
  }
  if (isTls && NOT_TLS.test(message)) return '; if the server speaks plain HTTP, the address begins with http://'
  if (!isTls && NOT_HTTP.test(code)) return '; if the server speaks TLS, the address begins with https://'
  return ''
}

/**
 * The failure of a request that got no answer.
 * @param certificates given ones to trust, if any
 */
export function unreachable(url: string, error: Error, certificates: string | undefined): ExitError {
  const advice = adviceOf(error, url.startsWith('https:'), certificates !== undefined)
  // OpenSSL's messages are lines with addresses of its source; the reason is after the last colon but one.
  const message = /^[0-9A-F]+:error:[^:]*:[^:]*:([^:]+):/.exec(error.message)?.[1] ?? error.message
  return new ExitError('unreachable', `${url} cannot be reached: ${message}${advice}`, { cause: error })
}
