/** What commands do to the model of a store, by the rules as S3 and the specification have them, not by the engine's code. */
import { sequenceOf } from '../../engine/brands.ts'
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import type { VersionName } from '../../engine/commands/version-name.ts'
import { standardOf, strictest } from './default-retention.ts'
import type { LockState, Retention } from '../../engine/events/values.ts'
import { joined } from './content.ts'
import { before, eventsOf } from './naive-events.ts'
import { createBucket, setBucket } from './bucket-rules.ts'
import { sourceOf } from './copy-sources.ts'
import { grown } from './grown.ts'
import { changeLinks } from './naive-links.ts'
import { changeRules } from './naive-lifecycle.ts'
import { keptChecksum, wholeChecksum } from './naive-checksums.ts'
import { changeNames } from './naive-renames.ts'
import { changeTags } from './naive-tags.ts'
import { changeWebhooks } from './naive-webhooks.ts'
import {
  conditionReasons,
  destructionReasons,
  lockReasons,
  type Moment,
  type Outcome,
  Refusal,
  refuse,
  refuseFor,
  retentionReasons,
  timeOf,
} from './refusals.ts'
import { partQuotaReasons, quotaReasons } from './quota-reasons.ts'
import type { ModelBucket, ModelPart, ModelPayload, ModelState, ModelUpload, ModelVersion } from './state.ts'

const DONE: Outcome = { code: 'done' }
export const PART_MINIMUM = 5 * 1024 ** 2

/** What a version has of the bytes and headers that were sent; a copy takes it from its source. */
export type Stored = Pick<ModelVersion, 'size' | 'etag' | 'headers' | 'payload' | 'checksum' | 'tags'>

type Sent = Pick<CommandOf<'write-object'>, 'body' | 'etag' | 'size'>

export class ModelRules {
  readonly #state: ModelState
  /** Bytes that were put into payload files, by the MD5 that the command says. */
  readonly #inFiles: ReadonlyMap<string, Buffer>

  constructor(state: ModelState, inFiles: ReadonlyMap<string, Buffer>) {
    this.#state = state
    this.#inFiles = inFiles
  }

  /** Carries a command out; undefined when the model has no opinion of it. */
  apply(command: Command, moment: Moment): Outcome | undefined {
    try {
      const was = before(this.#state, command)
      const outcome = this.#apply(command, moment)
      this.#state.events.push(...eventsOf(command, was, this.#state, outcome, moment.sequence))
      this.#state.sequence = Math.max(this.#state.sequence, moment.sequence)
      return outcome
    } catch (error) {
      if (error instanceof Refusal) return error.outcome
      throw error
    }
  }

  #apply(command: Command, moment: Moment): Outcome | undefined {
    switch (command.kind) {
      case 'create-bucket':
        return createBucket(this.#state, command, moment)
      case 'delete-bucket':
        if (this.#bucket(command.bucket).keys.size > 0) refuse('bucket-not-empty')
        this.#state.removeBucket(command.bucket)
        return DONE
      case 'set-versioning': {
        const bucket = this.#bucket(command.bucket)
        if (bucket.lockEnabled && command.versioning === 'suspended') refuse('versioning-is-locked')
        bucket.versioning = command.versioning
        return DONE
      }
      case 'set-default-retention':
        this.#lockBucket(command.bucket).defaultRetention = command.retention
        return DONE
      case 'write-object':
        return this.#write(command, moment)
      case 'append-object':
        return this.#append(command, moment)
      case 'copy-object':
        return this.#copy(command, moment)
      case 'delete-object':
        return this.#delete(command, moment)
      case 'set-retention':
        return this.#retain(command, moment)
      case 'set-legal-hold': {
        const version = this.#lockable(command)
        version.lock = { retention: version.lock?.retention, hold: command.hold }
        return { ...DONE, ...idOf(version) }
      }
      case 'create-upload': {
        const { key, headers, bucket: name, lock, checksum, tags } = command
        const bucket = this.#bucket(name)
        refuseFor(lockReasons(bucket, lock, moment.now))
        const upload = moment.sequence
        const made = { id: undefined, created: timeOf(moment), bucketId: bucket.id, bucket: name, key, headers, lock }
        const given = lock?.retention === undefined ? standardOf(bucket, moment.now) : undefined
        this.#state.uploads.set(upload, { upload, ...made, given, checksum, tags, parts: new Map() })
        return DONE
      }
      case 'write-part':
        return this.#writePart(command, moment)
      case 'copy-part':
        return this.#copyPart(command, moment)
      case 'complete-upload':
        return this.#complete(command, moment)
      case 'abort-upload':
      case 'reclaim-upload':
        this.#state.uploads.delete(command.kind === 'abort-upload' ? this.#upload(command).upload : command.upload)
        return DONE
      case 'record-digest':
        for (const payload of this.#state.references.keys()) {
          if (payload.id === command.payload && payload.kind === 'parts') payload.isDigested = true
        }
        return DONE
      case 'begin-scrub':
      case 'record-scrub':
      case 'sign-checkpoint':
      case 'rotate-checkpoint-key':
      case 'record-receipt':
      case 'publish-checkpoint':
      case 'cosign-checkpoint':
      case 'move-payloads':
      case 'remove-volume':
        return DONE
      default:
        return (
          changeNames(this.#state, command, moment) ??
          setBucket(this.#state, command) ??
          changeTags(this.#state, command) ??
          changeRules(this.#state, command) ??
          changeWebhooks(this.#state, command, moment.sequence) ??
          changeLinks(this.#state, command, moment)
        )
    }
  }

  #bucket(name: string): ModelBucket {
    return this.#state.buckets.get(name) ?? refuse('bucket-not-found')
  }

  #lockBucket(name: string): ModelBucket {
    const bucket = this.#bucket(name)
    if (!bucket.lockEnabled) refuse('lock-not-enabled')
    return bucket
  }

  #stored(bucket: ModelBucket, { body, etag, size }: Sent, sequence: number): ModelPayload | undefined {
    if (body.kind === 'empty') return undefined
    bucket.receivedBytes += body.kind === 'inline' ? body.bytes.length : size
    const bytes = body.kind === 'inline' ? viewOf(body.bytes) : (this.#inFiles.get(etag) ?? refuse('no such file'))
    const kind = body.kind === 'inline' ? 'volume' : 'file'
    return { id: sequence, kind, bytes, parts: [], completion: undefined, isDigested: false }
  }

  #write(command: CommandOf<'write-object'>, moment: Moment): Outcome {
    const { size, etag, headers, lock, checksum, tags } = command
    const bucket = this.#bucket(command.bucket)
    refuseFor([
      ...conditionReasons(command.condition, this.#state.current(bucket, command.key)),
      ...lockReasons(bucket, lock, moment.now),
      ...quotaReasons(this.#state, bucket, command.key, size),
    ])
    const payload = this.#stored(bucket, command, moment.sequence)
    return this.#publish(bucket, command.key, { size, etag, headers, payload, checksum, tags }, lock, moment)
  }

  #append(command: CommandOf<'append-object'>, moment: Moment): Outcome {
    const { key, offset, size, etag, headers, lock, checksum } = command
    const bucket = this.#bucket(command.bucket)
    const current = this.#state.current(bucket, key)
    refuseFor([
      ...conditionReasons(command.condition, current),
      ...(offset === (current?.size ?? 0) ? [] : ['offset-is-not-size']),
      ...lockReasons(bucket, lock, moment.now),
      ...quotaReasons(this.#state, bucket, key, offset + size),
    ])
    const isAlone = current === undefined || current.size === 0
    const added = this.#stored(bucket, command, isAlone ? moment.sequence : moment.sequence - 1)
    const kept = { headers: current?.headers ?? headers, tags: current?.tags }
    const alone = { size, etag, ...kept, payload: added, checksum }
    return this.#publish(bucket, key, isAlone ? alone : grown(current, added, command, moment.sequence), lock, moment)
  }

  #copy(command: CommandOf<'copy-object'>, moment: Moment): Outcome {
    const { sourceBucket, sourceKey, sourceIsVersion, key, replacement, lock } = command
    const source = sourceOf(this.#state, command)
    const bucket = this.#state.buckets.get(command.bucket)
    const reasons = typeof source === 'string' ? [source] : []
    if (bucket === undefined) return refuse(reasons[0] ?? 'bucket-not-found')
    const isSame = command.bucket === sourceBucket && key === sourceKey && !sourceIsVersion
    if (isSame && replacement === undefined) reasons.push('copy-onto-itself')
    reasons.push(...conditionReasons(command.condition, this.#state.current(bucket, key)))
    reasons.push(...lockReasons(bucket, lock, moment.now))
    if (typeof source !== 'string') reasons.push(...quotaReasons(this.#state, bucket, key, source.size))
    refuseFor(reasons)
    const { receivedBytes = 0 } = this.#state.buckets.get(sourceBucket) ?? {}
    bucket.receivedBytes = Math.max(bucket.receivedBytes, receivedBytes)
    const { headers, renamed: _, ...stored } = source as ModelVersion
    const asked = { headers: replacement?.headers ?? headers, tags: command.tags ?? stored.tags }
    return this.#publish(bucket, key, { ...stored, ...asked }, lock, moment)
  }

  /** The one way to a new current object. */
  #publish(
    bucket: ModelBucket,
    key: string,
    stored: Stored,
    asked: LockState | undefined,
    moment: Moment,
    given?: Retention,
  ): Outcome {
    const { sequence, now: aged } = moment
    const retention = asked?.retention ?? strictest([given, standardOf(bucket, aged)])
    const hold = asked?.hold
    const lock = retention === undefined && hold === undefined ? undefined : { retention, hold }
    const made = { sequence, isNull: bucket.versioning !== 'enabled', isMarker: false, id: undefined }
    const version = { ...stored, ...made, lock, modified: timeOf(moment), aged, noncurrentSince: undefined }
    this.#state.add(bucket, key, version)
    return { ...DONE, etag: stored.etag as string, ...(bucket.versioning === 'off' ? {} : idOf(version)) }
  }

  #delete(command: CommandOf<'delete-object'>, moment: Moment): Outcome {
    const { key, version: selector, condition } = command
    const bucket = this.#bucket(command.bucket)
    const found =
      selector === undefined ? this.#state.versions(bucket, key)[0] : this.#state.find(bucket, key, selector)
    // What is not there needs no deletion, whatever the condition.
    if (found !== undefined) refuseFor(conditionReasons(condition, found))
    if (selector !== undefined) {
      if (found === undefined) return { ...DONE, ...(selector !== 'unknown' && { version: selector }) }
      refuseFor(destructionReasons(found, moment, command.bypassGovernance))
      this.#state.remove(bucket, key, found)
      return { ...DONE, ...idOf(found), ...(bucket.versioning === 'off' ? {} : { marker: found.isMarker }) }
    }
    if (bucket.versioning === 'off') {
      this.#state.remove(bucket, key, found)
      return DONE
    }
    const isNull = bucket.versioning === 'suspended'
    const bytes = { size: 0, etag: undefined, headers: [], payload: undefined, checksum: undefined }
    const nothing = { ...bytes, id: undefined, lock: undefined }
    const times = { modified: timeOf(moment), aged: moment.now }
    const marker = { sequence: moment.sequence, ...times, isNull, isMarker: true, ...nothing }
    this.#state.add(bucket, key, marker)
    return { ...DONE, ...idOf(marker), marker: true }
  }

  #lockable(command: CommandOf<'set-retention'> | CommandOf<'set-legal-hold'>): ModelVersion {
    const { key, version: selector } = command
    const bucket = this.#bucket(command.bucket)
    const found = selector === undefined ? this.#state.current(bucket, key) : this.#state.find(bucket, key, selector)
    const reasons = bucket.lockEnabled ? [] : ['lock-not-enabled']
    if (found === undefined) reasons.push(selector === undefined ? 'object-not-found' : 'version-not-found')
    else if (found.isMarker) reasons.push('version-is-marker')
    refuseFor(reasons)
    return found as ModelVersion
  }

  #retain(command: CommandOf<'set-retention'>, moment: Moment): Outcome {
    const version = this.#lockable(command)
    refuseFor(retentionReasons(version.lock?.retention, command.retention, moment, command.bypassGovernance))
    version.lock = { retention: command.retention, hold: version.lock?.hold }
    return { ...DONE, ...idOf(version) }
  }

  #upload(command: { readonly bucket: string; readonly key: string; readonly upload: number }): ModelUpload {
    const { id } = this.#bucket(command.bucket)
    const upload = this.#state.uploads.get(command.upload)
    return upload?.bucketId === id && upload.key === command.key ? upload : refuse('upload-not-found')
  }

  #writePart(command: CommandOf<'write-part'>, moment: Moment): Outcome {
    const { part, size, etag } = command
    const bucket = this.#bucket(command.bucket)
    const upload = this.#upload(command)
    const checksum = keptChecksum(upload, command.checksum)
    refuseFor(partQuotaReasons(this.#state, bucket, upload, part, size))
    const payload = this.#stored(bucket, command, moment.sequence)
    upload.parts.set(part, { modified: timeOf(moment), size, etag, payload, checksum })
    return { ...DONE, etag }
  }

  /** All bytes of a version that was written whole; of others the planes write what they read. */
  #copyPart(command: CommandOf<'copy-part'>, moment: Moment): Outcome {
    const source = sourceOf(this.#state, command)
    if (typeof source === 'string') return refuse(source)
    const { size, etag = '', payload } = source
    const upload = this.#upload(command)
    const checksum = source.checksum?.composite === false ? keptChecksum(upload, source.checksum) : undefined
    refuseFor(partQuotaReasons(this.#state, this.#bucket(command.bucket), upload, command.part, size))
    upload.parts.set(command.part, { modified: timeOf(moment), size, etag, payload, checksum })
    return { ...DONE, etag }
  }

  #complete(command: CommandOf<'complete-upload'>, moment: Moment): Outcome {
    const { key, etag, parts: numbers, md5s } = command
    const bucket = this.#bucket(command.bucket)
    const upload = this.#state.uploads.get(command.upload)
    if (upload?.bucketId !== bucket.id || upload.key !== key) return this.#completedBefore(command, bucket)
    refuseFor(conditionReasons(command.condition, this.#state.current(bucket, key)))
    const parts = [...numbers].map((number, index): ModelPart => {
      const part = upload.parts.get(number)
      const md5 = Buffer.from(md5s.subarray(16 * index, 16 * index + 16)).toString('hex')
      return part?.etag === md5 ? part : refuse('part-not-found', String(number))
    })
    const small = parts.slice(0, -1).findIndex(({ size: bytes }) => bytes < PART_MINIMUM)
    if (small !== -1) refuse('part-too-small', String(numbers[small]))
    const size = parts.reduce((total, part) => total + part.size, 0)
    refuseFor(quotaReasons(this.#state, bucket, key, size))
    const checksum = wholeChecksum(command, upload, parts)
    this.#state.uploads.delete(upload.upload)
    this.#state.completions.push({ upload, numbers: [...numbers] })
    const payload: ModelPayload = {
      id: upload.upload,
      kind: 'parts',
      bytes: joined(parts.flatMap((part) => part.payload?.bytes ?? [])),
      parts: parts.map((part) => part.payload),
      completion: moment.sequence,
      isDigested: false,
    }
    const stored = { size, etag, headers: upload.headers, payload, checksum, tags: upload.tags }
    return this.#publish(bucket, key, stored, upload.lock, moment, upload.given)
  }

  /** A client whose answer was lost asks again, and is told the same while what it made is there. */
  #completedBefore({ key, upload, etag }: CommandOf<'complete-upload'>, bucket: ModelBucket): Outcome {
    const made = this.#state
      .versions(bucket, key)
      .find(({ payload, sequence }) => payload?.id === upload && payload.completion === sequence)
    if (made?.etag !== etag) return refuse('upload-not-found')
    return { ...DONE, etag, ...(bucket.versioning === 'off' ? {} : idOf(made)) }
  }
}

function idOf({ isNull, sequence }: ModelVersion): { readonly version: VersionName } {
  return { version: isNull ? 'null' : sequenceOf(sequence) }
}

/** The same bytes, not copied: parts are large. */
function viewOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
