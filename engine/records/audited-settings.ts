import type { DecidableCommand } from '../commands/commands.ts'
import type { SpineCommand, SpineCommands } from '../commands/spine-commands.ts'
import type { Pairs } from '../events/audit.ts'
import { rfc3339 } from '../clock.ts'
import { boundedText } from '../events/bounded-text.ts'
import type { Change } from '../events/changes.ts'
import type { DefaultRetention, LockState, Retention } from '../events/values.ts'
import { features } from '../features.ts'
import type { ObjectState, StateReader } from '../state-ports.ts'
import type { StoreState } from '../state-store.ts'
import { listText, NONE, type Setting, type SettingReaders, tagsText, timeText, UNLIMITED } from './setting-texts.ts'

/** Most bytes of one value in a record; a longer one is cut, and its digest is recorded. */
const VALUE_BYTES_MAXIMUM = 2048
/** Of tags in the record of a write, which has the headers of its object besides. */
const BESIDE_BYTES_MAXIMUM = 512

function retentionText(retention: Retention | undefined): string {
  return retention === undefined ? NONE : `${retention.mode} until ${timeText(retention.untilMilliseconds)}`
}

function defaultText(retention: DefaultRetention | undefined): string {
  return retention === undefined ? NONE : `${retention.mode} for ${retention.value} ${retention.unit}`
}

function holdText(lock: LockState | undefined): string {
  return lock?.hold === true ? 'ON' : 'OFF'
}

function versionBefore(
  { bucket: name, key, version }: SpineCommand<'set-retention' | 'set-legal-hold' | 'set-tags'>,
  state: StateReader,
): ObjectState | undefined {
  const bucket = state.bucket(name)
  if (bucket === undefined) return undefined
  return version === undefined ? state.object(bucket.id, key) : state.version(bucket.id, key, version)
}

/** Of the commands of the spine. No secret is read. */
const SPINE_SETTINGS: SettingReaders<SpineCommands> = {
  'set-versioning': ({ bucket, versioning }, { state }) => [
    ['versioning', state.bucket(bucket)?.versioning, versioning],
  ],

  'set-default-retention'({ bucket, retention }, { state }) {
    const present = state.bucket(bucket)
    return [['default_retention', present && defaultText(present.defaultRetention), defaultText(retention)]]
  },

  'set-cors'({ bucket, rules }, { state }) {
    const present = state.bucket(bucket)
    return [['cors', present && listText(state.cors(present.id)), listText(rules)]]
  },

  'set-quota'({ bucket, quota }, { state }) {
    const present = state.bucket(bucket)?.quota
    return [
      ['quota_bytes', present && (present.bytes ?? UNLIMITED), quota.bytes ?? UNLIMITED],
      ['quota_objects', present && (present.objects ?? UNLIMITED), quota.objects ?? UNLIMITED],
    ]
  },

  'set-retention'(command, { state }) {
    const present = versionBefore(command, state)
    return [['retention', present && retentionText(present.lock?.retention), retentionText(command.retention)]]
  },

  'set-legal-hold'(command, { state }) {
    const present = versionBefore(command, state)
    return [['legal_hold', present && holdText(present.lock), holdText({ retention: undefined, hold: command.hold })]]
  },

  'set-tags'(command, { state }) {
    const present = versionBefore(command, state)
    return [['tags', present && tagsText(present.tags), tagsText(command.tags)]]
  },

  'set-bucket-tags'({ bucket, tags }, { state }) {
    const present = state.bucket(bucket)
    return [['tags', present && tagsText(state.bucketTags(present.id)), tagsText(tags)]]
  },
}

type Reader = (command: DecidableCommand, context: { readonly state: StateReader }) => readonly Setting[]

/** By the kind of the command. */
const SETTINGS = new Map(
  [SPINE_SETTINGS, ...features.map(({ audited }) => audited)].flatMap((readers) =>
    Object.entries(readers).map(([kind, reader]) => [kind, reader as Reader] as const),
  ),
)

/**
 * Metadata for the settings that a command changes, or wanted to change when it is refused: `<name>` with the wanted
 * value and `<name>_before` with the previous value. Values are text or whole numbers; flags are words, so that readers
 * need not parse booleans.
 * @param state before the command
 */
export function settingsOf(command: DecidableCommand, state: StoreState): Pairs {
  const read = SETTINGS.get(command.kind)
  if (read === undefined) return []
  return read(command, { state, ...state.features }).flatMap(([name, before, wanted]) =>
    before === undefined ? [name, bounded(wanted)] : [name, bounded(wanted), `${name}_before`, bounded(before)],
  )
}

/**
 * What the metadata says of changes: the lock that a version is written with, whether it was asked for or is the bucket's
 * default, its tags, and between which times the clock is set back.
 */
export function detailsOf(changes: readonly Change[]): Pairs {
  const pairs: (string | number)[] = []
  for (const change of changes) {
    if (change.name === 'clock.set-back') pairs.push('from', rfc3339(change.from), 'to', rfc3339(change.to))
    // Alone it is the setting of a command, which has been read.
    if (change.name === 'version.tagged' && changes.length > 1) {
      pairs.push('tags', boundedText(tagsText(change.tags), BESIDE_BYTES_MAXIMUM))
    }
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
