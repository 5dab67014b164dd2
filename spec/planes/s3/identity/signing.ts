/** Signed requests for the specs of authentication. */

import { millisecondsOf } from '../../../../engine/brands.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { Authenticator } from '../../../../planes/s3/identity/authenticate.ts'
import type { Credential, Identity } from '../../../../planes/s3/signing/identity.ts'
import { presign, signHeaders } from '../../../support/signing.ts'
import type { QueryParameter } from '../../../../planes/s3/request/query-parameters.ts'
import { wireRequest } from '../wire-request.ts'

/** The credential that the S3 API reference publishes with its examples of SigV4. */
export const CREDENTIAL: Credential = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  principal: 'service_account:example',
  credentialId: 'credential-1',
  policies: undefined,
}
export const NOW = Date.UTC(2013, 4, 24)
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

function lookup(accessKey: string): Credential | undefined {
  return accessKey === CREDENTIAL.accessKey ? CREDENTIAL : undefined
}

export function authenticate(
  method: string,
  rawTarget: string,
  headers: readonly HeaderLine[],
  now = NOW,
): Identity | undefined {
  const { request, target } = wireRequest(method, rawTarget, headers)
  return new Authenticator({ lookup, clock: () => millisecondsOf(now) }).authenticate(request, target)
}

export interface Signing {
  readonly method?: string
  readonly path?: string
  readonly query?: readonly QueryParameter[]
  readonly headers?: readonly HeaderLine[]
  readonly now?: number
  readonly region?: string
  readonly accessKey?: string
  readonly secretKey?: string
  readonly payloadHash?: string
}

const DEFAULTS = { ...CREDENTIAL, method: 'PUT', path: '/b/k', region: 'us-east-1', now: NOW, host: 'h:7600' }

export function signed(signing: Signing = {}): HeaderLine[] {
  return signHeaders({ ...DEFAULTS, ...signing })
}

/** The request target of a presigned URL for Host `h`. */
export function presigned(signing: Signing & { expiresSeconds?: number } = {}): string {
  return presign({ ...DEFAULTS, endpoint: 'http://h', expiresSeconds: 60, ...signing }).slice('http://h'.length)
}

export function replaced(headers: readonly HeaderLine[], name: string, value: string): HeaderLine[] {
  return headers.map((line) => (line[0] === name ? [name, value] : line))
}

export function without(headers: readonly HeaderLine[], name: string): HeaderLine[] {
  return headers.filter((line) => line[0] !== name)
}

export const HOST_H: HeaderLine[] = [['host', 'h']]
