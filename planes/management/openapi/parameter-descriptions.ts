import type { Route } from '../routing/define-route.ts'

/** Descriptions of path and query parameters by name. A name means the same in every route. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  bucket: 'Name of a bucket.',
  key: 'The key of an object. In a path it is percent-encoded; slashes may be sent unencoded.',
  key_prefix: 'Only records about keys that begin with this text.',
  id: 'The id, as shown in the list.',
  credential_id: 'The id of a credential (not its access key).',
  policy_id: 'The id of a policy.',
  account_id: 'The id of a service account.',
  rule_id: 'The id of a lifecycle rule.',
  version_id: 'The id of a version; the current object if absent.',
  prefix: 'Only keys, or names of buckets, that begin with this text.',
  delimiter: 'Groups keys that share the text up to this delimiter.',
  limit: 'Maximum number of entries on the page.',
  after: 'Continues after this place: next_after of the previous page.',
  after_version_id: 'Continues after this version of the key in after: next_after_version_id of the previous page.',
  after_time: 'Continues after this time: next_time of the previous page. Only together with after_id.',
  after_id: 'Continues after this id: next_id of the previous page.',
  since: 'Only what happened at this time or later.',
  until: 'Only what happened before this time.',
  from: 'The start of the range: a time, or for the chain a sequence.',
  to: 'The end of the range; now if absent.',
  format: 'The form of the export.',
  export_id: 'The id of an export, from its header x-object-store-export-id.',
  principal: 'Only records of this principal.',
  operation: 'Only records of this operation.',
  resource: 'Only records whose resource begins with this text.',
  result: 'Only records with this result.',
  source_ip: 'Only records of requests from this address: that of the peer, or the one that a trusted proxy named.',
  request_id: 'Only records of this request.',
  order: 'Whether the oldest or the newest records come first.',
  type: 'Only events of this type.',
  follow: 'Whether the stream continues with new events.',
  heartbeat: 'Seconds without an event after which a heartbeat is sent.',
  progress: 'In a stream of JSON lines, have heartbeats report the position of the stream.',
  maximum_entries: 'Maximum number of entries to examine.',
  versions: 'Whether all versions are read, or only the current ones.',
  status: 'Only entries with this status.',
  webhook_id: 'The id of a webhook.',
  format_version: 'The format of the bundle: 2 has the records of the history themselves. 1 by default.',
  sequence: 'Sequence of a record.',
  size: 'The size of a checkpoint; the last one if absent.',
  old: 'The size of an earlier checkpoint.',
  tile: 'Level and number of a tile, such as `0/x001/067` or `entries/000.p/5`.',
}

/** The description of a parameter, from here or from the options of the route's commands; undefined without one. */
export function parameterDescription({ commands }: Route, name: string): string | undefined {
  return DESCRIPTIONS[name] ?? commands.map(({ options }) => textOf(options[name.replaceAll('_', '-')])).find(Boolean)
}

function textOf(option: Route['commands'][number]['options'][string] | undefined): string | undefined {
  return typeof option === 'object' ? Object.values<string>(option)[0] : option
}
