/** Policies of buckets in the language of AWS, as specs send them. */
import type { InThreadServer } from './test-server.ts'
import type { RawRequest, WireAnswer } from './wire-client.ts'

export interface AwsStatement {
  readonly Effect: 'Allow' | 'Deny'
  readonly Principal: unknown
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly [element: string]: unknown
}

export function policyOf(...Statement: readonly AwsStatement[]): string {
  return JSON.stringify({ Version: '2012-10-17', Statement })
}

/** @param keys of the bucket: `b` or `b/prefix/*` */
export function statement(
  Effect: AwsStatement['Effect'],
  Principal: unknown,
  Action: AwsStatement['Action'],
  ...keys: readonly string[]
): AwsStatement {
  return { Effect, Principal, Action, Resource: keys.map((key) => `arn:aws:s3:::${key}`) }
}

export function putPolicy(
  { raw }: Pick<InThreadServer, 'raw'>,
  bucket: string,
  body: string,
  signing: Pick<RawRequest, 'sign'> = {},
): Promise<WireAnswer> {
  return raw('PUT', `/${bucket}?policy`, { body, ...signing })
}
