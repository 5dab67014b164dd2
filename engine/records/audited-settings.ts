import type { CommandOf, DecidableCommand } from '../commands/commands.ts'
import type { Pairs } from '../events/audit.ts'
import { boundedText } from '../events/bounded-text.ts'
import type { Change } from '../events/changes.ts'
import type { DefaultRetention, LifecycleRule, LockState, Retention } from '../events/values.ts'
import type { StateReader } from '../state-ports.ts'
import { updatedEmbed } from '../links/rules.ts'
import type { EmbedState, ShareState } from '../links/state.ts'
import { maskedTarget, type WebhookState } from '../webhooks/state.ts'

/** Most bytes of one value in a record; a longer one is cut, and its digest is recorded. */
const VALUE_BYTES_MAXIMUM = 2048

/** A setting that a command changes: its name in the metadata, its previous value, if any, and the wanted value. */
type Setting = readonly [name: string, before: string | number | undefined, wanted: string | number]

const NONE = 'none'
const UNLIMITED = 'unlimited'

function retentionText(retention: Retention | undefined): string {
  return retention === undefined ? NONE : `${retention.mode} until ${timeText(retention.untilMilliseconds)}`
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function expiryText(microseconds: number | undefined): string {
  return microseconds === undefined ? 'never' : timeText(microseconds / 1000)
}

function defaultText(retention: DefaultRetention | undefined): string {
  return retention === undefined ? NONE : `${retention.mode} for ${retention.value} ${retention.unit}`
}

function holdText(lock: LockState | undefined): string {
  return lock?.hold === true ? 'ON' : 'OFF'
}

function statusText(enabled: boolean): string {
  return enabled ? 'enabled' : 'disabled'
}

function listText(items: readonly unknown[]): string {
  return items.length === 0 ? NONE : JSON.stringify(items)
}

/** A rule as one text, without its bucket: the record names that already. */
function ruleText(rule: LifecycleRule | undefined): string {
  if (rule === undefined) return NONE
  const { prefix, enabled, expirationDays: expiration, noncurrentDays } = rule
  return JSON.stringify({ prefix, enabled, expiration, noncurrent_version_expiration: noncurrentDays })
}

function ruleBefore(rule: string, state: StateReader): LifecycleRule | undefined {
  const bucket = state.bucket(state.bucketOfLifecycleRule(rule) ?? '')
  return bucket && state.lifecycleRules(bucket.id).find((other) => other.rule === rule)
}

function lockBefore(
  { bucket: name, key, version }: CommandOf<'set-retention' | 'set-legal-hold'>,
  state: StateReader,
): { readonly lock: LockState | undefined } | undefined {
  const bucket = state.bucket(name)
  if (bucket === undefined) return undefined
  return version === undefined ? state.object(bucket.id, key) : state.version(bucket.id, key, version)
}

function policiesOf(account: string, state: StateReader): readonly string[] | undefined {
  return state.account(account)?.policies
}

/** The query of a target may be a password of its owner, so it is left out. */
function webhookSettings({
  target,
  sealedQuery,
  eventTypes,
  bucket,
  prefix,
}: Pick<WebhookState, 'target' | 'sealedQuery' | 'eventTypes' | 'bucket' | 'prefix'>): [name: string, value: string][] {
  return [
    ['target_url', maskedTarget({ target, sealedQuery })],
    ['event_types', listText(eventTypes)],
    ['bucket_filter', bucket ?? NONE],
    ['object_prefix_filter', prefix ?? NONE],
  ]
}

/** Of a password only that there is one. */
function shareSettings({
  fileName,
  password,
  expiresMicroseconds,
  maximumDownloads,
}: Pick<ShareState, 'fileName' | 'password' | 'expiresMicroseconds' | 'maximumDownloads'>): Setting[] {
  return [
    ['expires', undefined, expiryText(expiresMicroseconds)],
    ['maximum_downloads', undefined, maximumDownloads ?? UNLIMITED],
    ['password', undefined, password === undefined ? NONE : 'set'],
    ['file_name', undefined, fileName ?? NONE],
  ]
}

function embedSettings(
  wanted: Pick<EmbedState, 'allowedOrigins' | 'expiresMicroseconds' | 'cacheSeconds'>,
  before?: EmbedState,
): Setting[] {
  return [
    ['allowed_origins', before && listText(before.allowedOrigins), listText(wanted.allowedOrigins)],
    ['expires', before && expiryText(before.expiresMicroseconds), expiryText(wanted.expiresMicroseconds)],
    ['cache_seconds', before?.cacheSeconds, wanted.cacheSeconds],
  ]
}

type Reader<K extends DecidableCommand['kind']> = (command: CommandOf<K>, state: StateReader) => readonly Setting[]

/**
 * Reads the setting before and after a command; commands without a row are fully described by their resource. No secret
 * is read.
 */
const SETTINGS: { readonly [K in DecidableCommand['kind']]?: Reader<K> } = {
  'set-versioning': ({ bucket, versioning }, state) => [['versioning', state.bucket(bucket)?.versioning, versioning]],

  'set-default-retention'({ bucket, retention }, state) {
    const present = state.bucket(bucket)
    return [['default_retention', present && defaultText(present.defaultRetention), defaultText(retention)]]
  },

  'set-cors'({ bucket, rules }, state) {
    const present = state.bucket(bucket)
    return [['cors', present && listText(state.cors(present.id)), listText(rules)]]
  },

  'set-quota'({ bucket, quota }, state) {
    const present = state.bucket(bucket)?.quota
    return [
      ['quota_bytes', present && (present.bytes ?? UNLIMITED), quota.bytes ?? UNLIMITED],
      ['quota_objects', present && (present.objects ?? UNLIMITED), quota.objects ?? UNLIMITED],
    ]
  },

  'create-lifecycle-rule': ({ rule }) => [['lifecycle_rule', undefined, ruleText(rule)]],

  'replace-lifecycle-rule'({ rule }, state) {
    const before = ruleBefore(rule.rule, state)
    return [['lifecycle_rule', before && ruleText(before), ruleText(rule)]]
  },

  'delete-lifecycle-rule'({ rule }, state) {
    const before = ruleBefore(rule, state)
    return before === undefined ? [] : [['lifecycle_rule', ruleText(before), NONE]]
  },

  'set-retention'(command, state) {
    const present = lockBefore(command, state)
    return [['retention', present && retentionText(present.lock?.retention), retentionText(command.retention)]]
  },

  'set-legal-hold'(command, state) {
    const present = lockBefore(command, state)
    return [['legal_hold', present && holdText(present.lock), holdText({ retention: undefined, hold: command.hold })]]
  },

  'set-account-status'({ account, enabled }, state) {
    const present = state.account(account)
    return [['account_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'delete-account'({ account }, state) {
    const present = state.account(account)
    return present === undefined
      ? []
      : [
          ['account_status', statusText(present.enabled), 'deleted'],
          ['policies', listText(present.policies), NONE],
          ['credentials', present.credentials.length, 0],
        ]
  },

  'issue-credential': ({ expiresMicroseconds }) => [['expires', undefined, expiryText(expiresMicroseconds)]],

  'set-credential-status'({ account, credential, enabled }, state) {
    const found = state.account(account)?.credentials.find((other) => other.credential === credential)
    const present = found && state.credential(found.accessKey)
    return [['credential_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'create-policy': ({ statements }) => [['statements', undefined, listText(statements)]],

  'replace-policy'({ policy, statements }, state) {
    const present = state.policy(policy)
    return [['statements', present && listText(present.statements), listText(statements)]]
  },

  'delete-policy'({ policy }, state) {
    const present = state.policy(policy)
    return present === undefined ? [] : [['statements', listText(present.statements), NONE]]
  },

  'attach-policy'({ policy, account }, state) {
    const present = policiesOf(account, state)
    if (present === undefined) return []
    const wanted = present.includes(policy) ? present : [...present, policy]
    return [['policies', listText(present), listText(wanted)]]
  },

  'detach-policy'({ policy, account }, state) {
    const present = policiesOf(account, state)
    if (present === undefined) return []
    return [['policies', listText(present), listText(present.filter((other) => other !== policy))]]
  },

  'issue-token': ({ role, expiresMicroseconds }) => [
    ['role', undefined, role],
    ['expires', undefined, expiryText(expiresMicroseconds)],
  ],

  'create-webhook'(command) {
    return [
      ...webhookSettings(command).map(([name, value]): Setting => [name, undefined, value]),
      ['webhook_status', undefined, statusText(command.enabled)],
    ]
  },

  'set-webhook-status'({ webhook, enabled }, state) {
    const present = state.webhook(webhook)
    return [['webhook_status', present && statusText(present.enabled), statusText(enabled)]]
  },

  'delete-webhook'({ webhook }, state) {
    const present = state.webhook(webhook)
    if (present === undefined) return []
    return [
      ['webhook_status', statusText(present.enabled), 'deleted'],
      ...webhookSettings(present).map(([name, value]): Setting => [name, value, NONE]),
    ]
  },

  'create-share': (command) => shareSettings(command),

  'create-embed': (command) => embedSettings(command),

  'update-embed'(command, state) {
    const present = state.embed(command.embed)
    return present === undefined ? [] : embedSettings(updatedEmbed(command, present), present)
  },

  'replay-webhook': ({ sinceMicroseconds, untilMicroseconds }) => [
    ['since', undefined, timeText(sinceMicroseconds / 1000)],
    ['until', undefined, timeText(untilMicroseconds / 1000)],
  ],
}

/**
 * Metadata for the settings that a command changes, or wanted to change when it is refused: `<name>` with the wanted
 * value and `<name>_before` with the previous value. Values are text or whole numbers; flags are words, so that readers
 * need not parse booleans.
 * @param state before the command
 */
export function settingsOf(command: DecidableCommand, state: StateReader): Pairs {
  const read = SETTINGS[command.kind] as Reader<DecidableCommand['kind']> | undefined
  if (read === undefined) return []
  return read(command, state).flatMap(([name, before, wanted]) =>
    before === undefined ? [name, bounded(wanted)] : [name, bounded(wanted), `${name}_before`, bounded(before)],
  )
}

/** The lock that a version is written with, whether it was asked for or is the bucket's default. */
export function locksOf(changes: readonly Change[]): Pairs {
  const pairs: (string | number)[] = []
  for (const change of changes) {
    if (change.name !== 'object.written' || change.lock === undefined) continue
    const { retention, hold } = change.lock
    if (retention !== undefined) pairs.push('retention', retentionText(retention))
    if (hold !== undefined) pairs.push('legal_hold', holdText(change.lock))
  }
  return pairs
}

function bounded(value: string | number): string | number {
  return typeof value === 'string' ? boundedText(value, VALUE_BYTES_MAXIMUM) : value
}
