/** Turns steps into commands on what a model and a store hold at that moment. */
import { crc32 } from 'node:zlib'
import type { Plain } from '../plain.ts'
import { microsecondsOf, millisecondsOf, payloadIdOf, sequenceOf } from '../../../engine/brands.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import type { PayloadMove, WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { VersionSelector } from '../../../engine/commands/version-name.ts'
import type { CorsRule, LockState, ObjectChecksum, Retention } from '../../../engine/events/values.ts'
import * as access from '../access-commands.ts'
import {
  copyObject,
  createBucket,
  deleteBucket,
  deleteObject,
  digestOf,
  md5Of,
  renameObject,
  write,
  writeFile,
} from '../commands.ts'
import { PART_MINIMUM } from '../../model/rules.ts'
import type { ModelState, ModelUpload } from '../../model/state.ts'
import * as links from '../sharing-commands.ts'
import type { Condition, LockRecipe, Place, RetentionRecipe, Step } from './step-recipes.ts'
import { storeFile, type TestStore } from '../test-store.ts'
import * as uploads from '../upload-commands.ts'
import * as versions from '../version-commands.ts'

const REPLACEMENT = { headers: ['content-type', 'replaced'], metadata: [] }
/** One that could be and is not. */
const MISSING = 7_000_000
const STRANGER = 77
const RULE: CorsRule = {
  id: 'rule',
  origins: ['*'],
  methods: ['GET'],
  headers: [],
  exposed: ['etag'],
  maxAgeSeconds: 60,
}

const LINK_COMMANDS = {
  'revoke-share': links.revokeShare,
  'delete-share': links.deleteShare,
  'count-download': links.countDownload,
  'revoke-embed': links.revokeEmbed,
  'delete-embed': links.deleteEmbed,
} as const

export class ModelCommands {
  readonly #state: ModelState
  /** Bytes that were put into payload files, by their MD5. */
  readonly #inFiles: Map<string, Buffer>
  readonly #isOwn: (bucket: string) => boolean
  #seed = 0
  #tokens = 0

  /** @param isOwn whether uploads to a bucket may be picked: what others do at the same time is not known yet */
  constructor(state: ModelState, inFiles: Map<string, Buffer>, isOwn: (bucket: string) => boolean = () => true) {
    this.#state = state
    this.#inFiles = inFiles
    this.#isOwn = isOwn
  }

  /** `now`: milliseconds since 1970, by the clock. */
  async commandOf(store: TestStore, step: Step, now: number): Promise<Command> {
    switch (step.kind) {
      case 'create-bucket':
        return { ...createBucket(step.bucket), region: step.region, lockEnabled: step.lock }
      case 'delete-bucket':
        return deleteBucket(step.bucket)
      case 'versioning':
        return versions.setVersioning(step.bucket, step.versioning)
      case 'default-retention': {
        const { bucket, mode, unit } = step
        return versions.setDefaultRetention(bucket, mode && { mode, unit, value: 2 })
      }
      case 'cors':
        return versions.setCors(
          step.bucket,
          Array.from({ length: step.rules }, () => RULE),
        )
      case 'quota':
        return versions.setQuota(step.bucket, { bytes: step.bytes, objects: step.objects })
      case 'write':
        return this.#write(store, step, now)
      case 'copy':
        return this.#copy(step, now)
      case 'rename':
        return this.#rename(step)
      case 'delete':
        return {
          ...deleteObject(step.bucket, step.key, this.#condition(step, step.condition)),
          ...(step.version === undefined ? {} : { version: this.#version(step, step.version) }),
          bypassGovernance: step.bypass,
        }
      case 'retain': {
        const version = step.version === undefined ? undefined : this.#version(step, step.version)
        const wanted = retentionOf(step.retention, now)
        return versions.setRetention(step.bucket, step.key, wanted, version, step.bypass)
      }
      case 'hold': {
        const version = step.version === undefined ? undefined : this.#version(step, step.version)
        return versions.setLegalHold(step.bucket, step.key, step.hold, version)
      }
      case 'create-upload':
        return {
          ...uploads.createUpload(step.bucket, step.key),
          ...lockOf(step.lock, now),
          ...(step.sums && { checksum: { algorithm: 'crc32', composite: true } }),
        }
      case 'part':
        return this.#writePart(store, step)
      case 'complete':
        return this.#complete(step)
      case 'abort':
        return uploads.abortUpload(this.#upload(step.upload))
      case 'reclaim': {
        const { bucketId, key, upload } = this.#upload(step.upload)
        return uploads.reclaimUpload(bucketId, key, upload)
      }
      case 'move':
        return uploads.movePayloads(this.#moves(store, step))
      case 'remove-volume':
        return uploads.removeVolume(step.volume)
      case 'digest': {
        const composed = [...this.#state.references.keys()].filter(({ kind }) => kind === 'parts')
        const payload = at(composed, step.payload)
        return uploads.recordDigest(payload?.id ?? MISSING, digestOf(payload?.bytes ?? Buffer.alloc(0)))
      }
      case 'link':
        return this.#link(step, now)
      case 'access':
        return accessCommand(step.what, `account-${step.who}`, `thing-${step.which}`)
    }
  }

  #link(step: Extract<Step, { kind: 'link' }>, now: number): Command {
    const { deed, bucket, key, version: picked } = step
    const link = `link-${step.link}`
    const selected = picked === undefined ? undefined : this.#version(step, picked)
    const version = selected === 'unknown' ? sequenceOf(MISSING) : selected
    const expiresMicroseconds = picked === 1 ? microsecondsOf((now + 5000) * 1000) : undefined
    switch (deed) {
      case 'create-share': {
        const maximumDownloads = step.link === 0 ? undefined : step.link
        return links.createShare(link, { bucket, key, version, expiresMicroseconds, maximumDownloads })
      }
      case 'create-embed':
        return links.createEmbed(link, { bucket, key, version, expiresMicroseconds })
      case 'update-embed':
        return links.updateEmbed(link, { expiry: { expiresMicroseconds }, cacheSeconds: picked })
      default:
        return LINK_COMMANDS[deed](link)
    }
  }

  #bytes(size: number): Buffer {
    this.#seed += 1
    return Buffer.from(`${this.#seed}|`.repeat(Math.ceil(size / 2)).slice(0, size))
  }

  async #file(store: TestStore, bytes: Buffer): Promise<string> {
    this.#inFiles.set(md5Of(bytes), bytes)
    return storeFile(store, bytes)
  }

  #condition({ bucket, key }: Place, kind: Condition): WriteCondition {
    if (kind === 'none' || kind === 'absent' || kind === 'exists') return { kind }
    const there = this.#state.current(this.#state.buckets.get(bucket), key)?.etag ?? 'e'.repeat(32)
    const others = ['0'.repeat(32), 'f'.repeat(32)]
    if (kind === 'differs') return { kind, etags: this.#seed % 2 === 0 ? [...others, there] : others }
    return { kind: 'matches', etags: kind === 'matches' ? [...others, there] : others }
  }

  #version({ bucket, key }: Place, pick: number): VersionSelector {
    const there = this.#state.versions(this.#state.buckets.get(bucket), key)
    const found = there[pick % (there.length + 3)]
    if (found !== undefined) return found.isNull ? 'null' : sequenceOf(found.sequence)
    return (['null', 'unknown', sequenceOf(MISSING)] as const)[pick % 3] ?? 'null'
  }

  async #write(store: TestStore, step: Extract<Step, { kind: 'write' }>, now: number): Promise<Command> {
    const { bucket, key, inFile } = step
    const bytes = this.#bytes(step.size)
    const condition = this.#condition(step, step.condition)
    const asked = { ...lockOf(step.lock, now), ...(step.checksum && { checksum: checksumOf(bytes) }) }
    if (!inFile || bytes.length === 0) return { ...write(bucket, key, bytes, condition), ...asked }
    return { ...writeFile(bucket, key, bytes, await this.#file(store, bytes)), condition, ...asked }
  }

  #copy({ from, version, to, replaces, lock }: Extract<Step, { kind: 'copy' }>, now: number): Command {
    const bucket = this.#state.buckets.get(from.bucket)
    const there = this.#state.versions(bucket, from.key)
    const source = version === undefined ? this.#state.current(bucket, from.key) : at(there, version)
    return {
      ...copyObject({ ...from, sequence: source?.sequence ?? 1 }, to, replaces ? REPLACEMENT : undefined),
      sourceIsVersion: version !== undefined,
      ...lockOf(lock, now),
    }
  }

  #rename(step: Extract<Step, { kind: 'rename' }>): Command {
    const { bucket, from, key, token } = step
    const source = this.#state.current(this.#state.buckets.get(bucket), from)
    if (token === 'new') this.#tokens += 1
    const name = token === 'none' ? undefined : `token-${this.#tokens}`
    const condition = this.#condition(step, step.condition)
    return { ...renameObject(bucket, from, key, source?.sequence, name), condition }
  }

  #upload(pick: number): ModelUpload {
    const own = [...this.#state.uploads.values()].filter(({ bucket }) => this.#isOwn(bucket))
    const found = at(own, pick)
    if (found !== undefined && pick < 11) return found
    const nothing = { id: undefined, created: 0, headers: [], lock: undefined, given: undefined, parts: new Map() }
    return { upload: MISSING, bucketId: 0, bucket: 'first', key: 'a', ...nothing }
  }

  async #writePart(store: TestStore, step: Extract<Step, { kind: 'part' }>): Promise<Command> {
    const { upload, bucket, key } = this.#upload(step.upload)
    const name = { upload, bucket, key }
    const bytes = this.#bytes(step.size === 'none' ? 0 : 50)
    const checksum = checksumOf(bytes)
    if (step.size === 'full') return { ...uploads.writePart(name, step.part, bytes, PART_MINIMUM), checksum }
    const command = { ...uploads.writePart(name, step.part, bytes), checksum }
    if (!step.inFile || bytes.length === 0) return command
    return { ...command, body: { kind: 'file', name: await this.#file(store, bytes), sealed: false } }
  }

  #complete(step: Extract<Step, { kind: 'complete' }>): Command {
    const { upload, bucket, key, parts } = this.#upload(step.upload)
    const listed = [...parts].toSorted(([left], [right]) => left - right).map(([part, { etag }]) => ({ part, etag }))
    const index = step.at % (listed.length + 1)
    if (step.list === 'fewer') listed.splice(index, 1)
    if (step.list === 'changed' && listed[index] !== undefined)
      listed[index] = { ...listed[index], etag: 'd'.repeat(32) }
    if (step.list === 'stranger' || listed.length === 0) {
      listed.push({ part: STRANGER, etag: 'd'.repeat(32) })
      listed.sort((left, right) => left.part - right.part)
    }
    const condition = this.#condition({ bucket, key }, step.condition)
    const command = uploads.completeUpload({ upload, bucket, key }, listed, condition)
    return step.mistakes ? { ...command, checksum: checksumOf(Buffer.from('mistaken')) } : command
  }

  #moves(store: TestStore, { payloads, again }: Extract<Step, { kind: 'move' }>): Plain<PayloadMove>[] {
    const small = [...this.#state.references.keys()].filter(({ kind }) => kind === 'volume')
    const moves = payloads.flatMap((pick): Plain<PayloadMove>[] => {
      const payload = at(small, pick)
      const location = payload === undefined ? undefined : store.catalog.snapshot().payload(payloadIdOf(payload.id))
      return location?.kind === 'volume' ? [uploads.moveOf(store, payload?.id ?? 0, location)] : []
    })
    return again ? [...moves, ...moves.slice(0, 1)] : moves
  }
}

function at<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(1, list.length)]
}

function retentionOf(recipe: RetentionRecipe | undefined, now: number): Retention | undefined {
  return recipe && { mode: recipe.mode, untilMilliseconds: millisecondsOf(now + recipe.inMilliseconds) }
}

function lockOf(recipe: LockRecipe | undefined, now: number): { readonly lock?: LockState } {
  return recipe === undefined ? {} : { lock: { retention: retentionOf(recipe.retention, now), hold: recipe.hold } }
}

function checksumOf(bytes: Uint8Array): ObjectChecksum {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(crc32(bytes))
  return { algorithm: 'crc32', value, composite: false }
}

/** Commands of access: the model has no opinion of them, but rows must come back from the journal. */
function accessCommand(what: number, account: string, thing: string): Command {
  const commands: readonly Command[] = [
    access.createAccount(account),
    access.setAccountStatus(account, thing === 'thing-0'),
    access.deleteAccount(account),
    access.issueCredential(account, thing, thing === 'thing-0' ? 1 : undefined),
    access.setCredentialStatus(account, thing, false),
    access.createPolicy(thing, { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }),
    access.attachPolicy(thing, account),
    access.detachPolicy(thing, account),
    access.issueToken(thing, 'auditor'),
    access.revokeToken(thing),
  ]
  return commands[what % commands.length] as Command
}
