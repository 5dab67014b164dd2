/** Requests as they go over the wire, for clients that send them again and again. */
import type { Identity } from '../../support/identities.ts'
import type { ProcessServer } from '../../support/server-process.ts'

export function requestText(method: string, target: string, lines: readonly string[]): string {
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`
}

/**
 * Signed for an account, and not its body.
 * @param signed further headers that are signed
 * @param lines further lines that are not
 */
export function signedText(
  server: ProcessServer,
  { signing }: Identity,
  method: string,
  target: string,
  signed: readonly (readonly [name: string, value: string])[],
  lines: readonly string[] = [],
): string {
  const payloadHash = 'UNSIGNED-PAYLOAD'
  const headers = server.wire.headersOf(method, target, { headers: signed, sign: { ...signing.sign, payloadHash } })
  return requestText(method, target, [...headers.map(([name, value]) => `${name}: ${value}`), ...lines])
}
