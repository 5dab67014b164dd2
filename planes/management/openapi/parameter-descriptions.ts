import type { Route } from '../define-route.ts'

/** What parameters of paths and queries mean, by their names. A name means the same in every route. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  bucket: 'Name of a bucket.',
  key: 'The key of an object. In a path it is percent-encoded, and slashes may be sent as they are.',
  key_prefix: 'Only records about keys that begin with this text.',
  id: 'The id of the thing, as the list shows it.',
  credential_id: 'The id of a credential (not its access key).',
  policy_id: 'The id of a policy.',
  account_id: 'The id of a service account.',
  rule_id: 'The id of a lifecycle rule.',
  version_id: 'The id of a version; the current object without it.',
  prefix: 'Only keys, or names of buckets, that begin with this text.',
  delimiter: 'Groups keys that have the same text up to it.',
  limit: 'Most entries of the page.',
  after: 'Goes on after this place: next_after of the page before.',
  after_version_id: 'Goes on after this version of the key in after: next_after_version_id of the page before.',
  after_time: 'Goes on after this time: next_time of the page before. Only together with after_id.',
  after_id: 'Goes on after this id: next_id of the page before.',
  since: 'Only what happened at this time or later.',
  until: 'Only what happened before this time.',
  from: 'The beginning of the range: a time, or for the chain a sequence.',
  to: 'The end of the range; now without it.',
  format: 'The form of the export.',
  export_id: 'The id of an export, from its header x-object-store-export-id.',
  principal: 'Only records of this principal.',
  operation: 'Only records of this operation.',
  resource: 'Only records whose resource begins with this text.',
  result: 'Only records with this result.',
  source_ip: 'Only records of requests from this address.',
  request_id: 'Only records of this request.',
  order: 'Whether the oldest or the newest records come first.',
  type: 'Only events of this type.',
  follow: 'Whether the answer goes on with new events.',
  heartbeat: 'Seconds without an event after which a sign of life is sent.',
  progress: 'Among lines of JSON, have signs of life say how far the stream is.',
  maximum_entries: 'Most entries that are examined.',
  versions: 'Whether all versions are read or the current ones only.',
  status: 'Only those with this status.',
  webhook_id: 'The id of a webhook.',
  sequence: 'Sequence of a record.',
  size: 'The size of a checkpoint; of the last one without it.',
  old: 'The size of an earlier checkpoint.',
  tile: 'Level and number of a tile, such as `0/x001/067` or `entries/000.p/5`.',
}

/** Undefined for a name that has none here and none among the options of the route's commands. */
export function parameterDescription({ commands }: Route, name: string): string | undefined {
  return DESCRIPTIONS[name] ?? commands.map(({ options }) => textOf(options[name.replaceAll('_', '-')])).find(Boolean)
}

function textOf(option: Route['commands'][number]['options'][string] | undefined): string | undefined {
  return typeof option === 'object' ? Object.values<string>(option)[0] : option
}
