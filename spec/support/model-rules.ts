/** What commands do to the model of a store, by the rules as S3 and the specification have them, not by the engine's code. */
import type {
  Command,
  CompleteUpload,
  CopyObject,
  CreateBucket,
  DeleteObject,
  SetLegalHold,
  SetRetention,
  VersionSelector,
  WriteBody,
  WriteObject,
  WritePart,
} from '../../engine/commands.ts'
import type { LockState } from '../../engine/events/changes.ts'
import {
  holds,
  lockMayBe,
  mayDestroy,
  mayRelease,
  type Moment,
  type Outcome,
  refuse,
  Refusal,
} from './model-refusals.ts'
import type { ModelBucket, ModelPart, ModelPayload, ModelState, ModelUpload, ModelVersion } from './model-state.ts'

const DONE: Outcome = { code: 'done' }
const DAY = 24 * 60 * 60 * 1000
export const PART_MINIMUM = 5 * 1024 ** 2

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
      return this.#apply(command, moment)
    } catch (error) {
      if (error instanceof Refusal) return error.outcome
      throw error
    }
  }

  #apply(command: Command, moment: Moment): Outcome | undefined {
    switch (command.kind) {
      case 'create-bucket':
        return this.#createBucket(command, moment)
      case 'delete-bucket':
        if (this.#bucket(command.bucket).keys.size > 0) refuse('bucket-not-empty')
        this.#state.buckets.delete(command.bucket)
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
      case 'set-cors':
        this.#bucket(command.bucket).cors = command.rules
        return DONE
      case 'set-quota':
        this.#bucket(command.bucket).quota = command.quota
        return DONE
      case 'write-object':
        return this.#write(command, moment)
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
        const { key, headers, bucket: name, lock } = command
        const bucket = this.#bucket(name)
        lockMayBe(bucket, lock, moment.now)
        const upload = moment.sequence
        this.#state.uploads.set(upload, {
          upload,
          bucketId: bucket.id,
          bucket: name,
          key,
          headers,
          lock,
          parts: new Map(),
        })
        return DONE
      }
      case 'write-part':
        return this.#writePart(command, moment)
      case 'complete-upload':
        return this.#complete(command, moment)
      case 'abort-upload':
        this.#state.uploads.delete(this.#upload(command).upload)
        return DONE
      case 'reclaim-upload':
        this.#state.uploads.delete(command.upload)
        return DONE
      case 'record-digest':
        for (const payload of this.#state.references.keys()) {
          if (payload.id === command.payload && payload.kind === 'parts') payload.isDigested = true
        }
        return DONE
      case 'move-payloads':
      case 'remove-volume':
        return DONE
      default:
        return undefined
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

  #createBucket({ bucket, region, lockEnabled }: CreateBucket, { sequence }: Moment): Outcome {
    const present = this.#state.buckets.get(bucket)
    if (present !== undefined) {
      const isSame = present.region === region && present.lockEnabled === lockEnabled
      return isSame && region === 'us-east-1' ? DONE : refuse('bucket-exists')
    }
    this.#state.buckets.set(bucket, {
      id: sequence,
      region,
      lockEnabled,
      versioning: lockEnabled ? 'enabled' : 'off',
      defaultRetention: undefined,
      quota: { bytes: undefined, objects: undefined },
      cors: [],
      keys: new Map(),
    })
    return DONE
  }

  #stored(body: WriteBody, etag: string, sequence: number): ModelPayload | undefined {
    if (body.kind === 'empty') return undefined
    const bytes = body.kind === 'inline' ? Buffer.from(body.bytes) : (this.#inFiles.get(etag) ?? refuse('no such file'))
    const kind = body.kind === 'inline' ? 'volume' : 'file'
    return { id: sequence, kind, bytes, parts: [], completion: undefined, isDigested: false }
  }

  #write(command: WriteObject, moment: Moment): Outcome {
    const { size, etag, headers, body, lock } = command
    const bucket = this.#bucket(command.bucket)
    holds(command.condition, this.#state.current(bucket, command.key))
    lockMayBe(bucket, lock, moment.now)
    this.#quota(bucket, command.key, size)
    const payload = this.#stored(body, etag, moment.sequence)
    return this.#publish(bucket, command.key, { size, etag, headers, payload }, lock, moment)
  }

  /** A `null` version that is not the one that was seen may have taken its place. */
  #namedSource(from: ModelBucket, key: string, sequence: number): ModelVersion {
    const versions = this.#state.versions(from, key)
    const source = versions.find((version) => version.sequence === sequence)
    return source ?? refuse(versions.some(({ isNull }) => isNull) ? 'source-changed' : 'version-not-found')
  }

  #copy(command: CopyObject, moment: Moment): Outcome {
    const { sourceBucket, sourceKey, sourceSequence, sourceIsVersion, key, replacement, lock } = command
    const from = this.#bucket(sourceBucket)
    const source = sourceIsVersion
      ? this.#namedSource(from, sourceKey, sourceSequence)
      : (this.#state.current(from, sourceKey) ?? refuse('object-not-found'))
    if (source.isMarker) refuse('version-is-marker')
    if (source.sequence !== sourceSequence) refuse('source-changed')
    const bucket = this.#bucket(command.bucket)
    const isSame = bucket === from && key === sourceKey && !sourceIsVersion
    if (isSame && replacement === undefined) refuse('copy-onto-itself')
    holds(command.condition, this.#state.current(bucket, key))
    lockMayBe(bucket, lock, moment.now)
    this.#quota(bucket, key, source.size)
    return this.#publish(bucket, key, { ...source, headers: replacement?.headers ?? source.headers }, lock, moment)
  }

  /** The one way to a new current object. */
  #publish(
    bucket: ModelBucket,
    key: string,
    { size, etag, headers, payload }: Pick<ModelVersion, 'size' | 'etag' | 'headers' | 'payload'>,
    asked: LockState | undefined,
    { sequence, now }: Moment,
  ): Outcome {
    const standard = bucket.defaultRetention
    const days = standard === undefined ? 0 : standard.value * (standard.unit === 'years' ? 365 : 1)
    const retention = asked?.retention ?? (standard && { mode: standard.mode, untilMilliseconds: now + days * DAY })
    const hold = asked?.hold
    const lock = retention === undefined && hold === undefined ? undefined : { retention, hold }
    const isNull = bucket.versioning !== 'enabled'
    const version = { sequence, isNull, isMarker: false, size, etag, headers, payload, lock }
    this.#state.add(bucket, key, version)
    return { ...DONE, etag: etag as string, ...(bucket.versioning === 'off' ? {} : idOf(version)) }
  }

  #quota(bucket: ModelBucket, key: string, size: number): void {
    const { bytes = Number.POSITIVE_INFINITY, objects = Number.POSITIVE_INFINITY } = bucket.quota
    const current = this.#state.current(bucket, key)
    const usage = this.#state.usage(bucket)
    const after = usage.bytes - (current?.size ?? 0) + size
    if (after > usage.bytes && after > bytes) refuse('quota-exceeded')
    if (current === undefined && usage.objects + 1 > objects) refuse('quota-exceeded')
  }

  #delete(command: DeleteObject, moment: Moment): Outcome {
    const { key, version: selector, condition } = command
    const bucket = this.#bucket(command.bucket)
    const found =
      selector === undefined ? this.#state.versions(bucket, key)[0] : this.#state.find(bucket, key, selector)
    if (found !== undefined) holds(condition, found)
    if (selector !== undefined) {
      if (found === undefined) return { ...DONE, version: selector }
      mayDestroy(found, moment, command.bypassGovernance)
      this.#state.remove(bucket, key, found)
      return { ...DONE, ...idOf(found), ...(bucket.versioning === 'off' ? {} : { marker: found.isMarker }) }
    }
    if (bucket.versioning === 'off') {
      this.#state.remove(bucket, key, found)
      return DONE
    }
    const isNull = bucket.versioning === 'suspended'
    const nothing = { size: 0, etag: undefined, headers: [], payload: undefined, lock: undefined }
    const marker = { sequence: moment.sequence, isNull, isMarker: true, ...nothing }
    this.#state.add(bucket, key, marker)
    return { ...DONE, ...idOf(marker), marker: true }
  }

  #lockable(command: SetRetention | SetLegalHold): ModelVersion {
    const { key, version: selector } = command
    const bucket = this.#lockBucket(command.bucket)
    const found =
      selector === undefined
        ? (this.#state.current(bucket, key) ?? refuse('object-not-found'))
        : (this.#state.find(bucket, key, selector) ?? refuse('version-not-found'))
    return found.isMarker ? refuse('version-is-marker') : found
  }

  #retain(command: SetRetention, moment: Moment): Outcome {
    const version = this.#lockable(command)
    const { retention: wanted } = command
    if (wanted !== undefined && wanted.untilMilliseconds <= moment.now) refuse('retention-in-past')
    const present = version.lock?.retention
    const isTightening =
      present === undefined ||
      (wanted !== undefined &&
        wanted.untilMilliseconds >= present.untilMilliseconds &&
        !(present.mode === 'COMPLIANCE' && wanted.mode === 'GOVERNANCE'))
    if (!isTightening) mayRelease(present, moment, command.bypassGovernance)
    version.lock = { retention: wanted, hold: version.lock?.hold }
    return { ...DONE, ...idOf(version) }
  }

  #upload(command: { readonly bucket: string; readonly key: string; readonly upload: number }): ModelUpload {
    const bucket = this.#bucket(command.bucket)
    const upload = this.#state.uploads.get(command.upload)
    const isThere = upload?.bucketId === bucket.id && upload.key === command.key
    return isThere ? upload : refuse('upload-not-found')
  }

  #writePart(command: WritePart, { sequence }: Moment): Outcome {
    const { part, size, etag, body } = command
    this.#upload(command).parts.set(part, { size, etag, payload: this.#stored(body, etag, sequence) })
    return { ...DONE, etag }
  }

  #complete(command: CompleteUpload, moment: Moment): Outcome {
    const { key, etag, parts: numbers, md5s } = command
    const bucket = this.#bucket(command.bucket)
    const upload = this.#state.uploads.get(command.upload)
    if (upload?.bucketId !== bucket.id || upload.key !== key) return this.#completedBefore(command, bucket)
    const parts = [...numbers].map((number, index): ModelPart => {
      const part = upload.parts.get(number)
      const md5 = Buffer.from(md5s.subarray(16 * index, 16 * index + 16)).toString('hex')
      return part?.etag === md5 ? part : refuse('part-not-found', String(number))
    })
    const small = parts.slice(0, -1).findIndex(({ size: bytes }) => bytes < PART_MINIMUM)
    if (small !== -1) refuse('part-too-small', String(numbers[small]))
    const size = parts.reduce((total, part) => total + part.size, 0)
    holds(command.condition, this.#state.current(bucket, key))
    this.#quota(bucket, key, size)
    this.#state.uploads.delete(upload.upload)
    const payload: ModelPayload = {
      id: upload.upload,
      kind: 'parts',
      bytes: Buffer.concat(parts.map((part) => part.payload?.bytes ?? Buffer.alloc(0))),
      parts: parts.map((part) => part.payload),
      completion: moment.sequence,
      isDigested: false,
    }
    return this.#publish(bucket, key, { size, etag, headers: upload.headers, payload }, upload.lock, moment)
  }

  /** Asked again with the same list while what it made is there: told the same again. */
  #completedBefore({ key, upload, etag }: CompleteUpload, bucket: ModelBucket): Outcome {
    const made = this.#state
      .versions(bucket, key)
      .find(({ payload, sequence }) => payload?.id === upload && payload.completion === sequence)
    if (made?.etag !== etag) return refuse('upload-not-found')
    return { ...DONE, etag, ...(bucket.versioning === 'off' ? {} : idOf(made)) }
  }
}

function idOf({ isNull, sequence }: ModelVersion): { readonly version: VersionSelector } {
  return { version: isNull ? 'null' : sequence }
}
