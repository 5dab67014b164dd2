import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { Command } from '../../../engine/commands/commands.ts'
import type { Done } from '../../../engine/commands/done.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import type { ClientLedger } from '../../support/dying-servers/client-ledger.ts'
import { EventReceiver } from '../../support/webhooks/event-receiver.ts'
import { FaultDisk, inputOutputError } from '../../support/disks/fault-disk.ts'
import { openTestStore, readObject, type TestStore } from '../../support/test-store.ts'
import { type Breakage, UNBROKEN } from '../disk/breakage.ts'
import { withLooks } from './looking-disk.ts'
import { ForgetfulDisk } from './forgetful-disk.ts'
import type { ListedPart, UploadName } from '../../support/upload-commands.ts'

/** Later than the host's clock, by which a journal begins. */
export const NOW = Date.parse('2126-01-02T03:04:05Z')
export const SEGMENT_BYTES = 32 * 1024
export const VOLUME_BYTES = 16 * 1024
const SEAL_BYTES = 1024
const NEXT_FRAME_BYTES = 2200

/** @param now milliseconds, what the clock says for good */
export const storeOptions = (bootId: string, now: number) => ({
  segmentBytes: SEGMENT_BYTES,
  volumeBytes: VOLUME_BYTES,
  bootId,
  clock: () => now * 1000,
})

/** A data directory from the start of a process to its end, with the clients that it had. */
export class Life {
  readonly forgetful = new ForgetfulDisk()
  readonly disk = new FaultDisk(this.forgetful.disk)
  /** What the store, and its workers, are given. */
  readonly door: Disk
  readonly paths: StorePaths
  readonly ledger: ClientLedger
  /** Of webhooks. */
  readonly receiver: EventReceiver
  /** What somebody was told of a failure. */
  readonly failures: unknown[] = []
  /** What a reader answered that it must not. */
  readonly wrong: string[] = []
  readonly #bootId: string
  #store: TestStore | undefined

  constructor(root: string, ledger: ClientLedger, bootId: string, breakage: Breakage = UNBROKEN) {
    this.paths = new StorePaths(root)
    this.ledger = ledger
    // The first request of each event is refused: it is tried again.
    this.receiver = new EventReceiver((request) => request === 1)
    this.#bootId = bootId
    const looking = withLooks(this.disk)
    this.door = breakage.wrap?.(looking) ?? looking
  }

  get isOpen(): boolean {
    return this.#store !== undefined
  }

  get store(): TestStore {
    if (this.#store === undefined) throw new Error('the store is not open')
    return this.#store
  }

  /** Commands that pass here are accounted for. */
  get client(): EngineClient {
    return this.ledger.accounting(this.store.client)
  }

  /** The upload in progress. */
  get upload(): UploadName {
    return [...this.ledger.state.uploads.values()][0] as UploadName
  }

  get parts(): ListedPart[] {
    const [upload] = this.ledger.state.uploads.values()
    return [...(upload?.parts ?? [])].map(([part, { etag }]) => ({ part, etag }))
  }

  /** The oldest version of the key that has several. */
  get version(): number {
    const { state } = this.ledger
    return state.versions(state.buckets.get('versions'), 'key').at(-1)?.sequence ?? 0
  }

  get segmentIsFull(): boolean {
    const { place, batchBytesMaximum } = this.store.journal
    return place.offset + batchBytesMaximum + SEAL_BYTES > SEGMENT_BYTES
  }

  get volumeIsFull(): boolean {
    return (this.store.catalog.snapshot().volumes().at(-1)?.end ?? 0) + NEXT_FRAME_BYTES > VOLUME_BYTES
  }

  told(error: unknown): void {
    this.failures.push(error)
  }

  async open(): Promise<void> {
    this.#store = await openTestStore(this.paths.root, storeOptions(this.#bootId, this.ledger.now), this.door)
    await this.disk.idle()
  }

  /** Opens on a disk on which no spare can be made. */
  async openWithoutSpares(): Promise<void> {
    this.disk.fault = ({ name, path }) =>
      name === 'create' && path.endsWith('/spare') ? { kind: 'error', error: inputOutputError() } : undefined
    await this.open()
    this.disk.fault = () => undefined
  }

  send(command: Command): Promise<Done> {
    return this.ledger.send(this.store.client, command)
  }

  /** All at once, as one batch. */
  async all(commands: readonly Command[]): Promise<void> {
    for (const one of await Promise.allSettled(commands.map((command) => this.send(command)))) {
      if (one.status === 'rejected') this.told(one.reason)
    }
  }

  storeFile(bytes: Buffer): Promise<string> {
    return this.ledger.storeFile(this.store, bytes)
  }

  /** Reads an object of the bucket `kept` as a client does: its bytes, or an error. */
  async read(key: string): Promise<void> {
    const { state } = this.ledger
    const expected = state.current(state.buckets.get('kept'), key)?.payload?.bytes
    const bytes = await readObject(this.store, 'kept', key)
    if (expected === undefined || bytes?.equals(expected) !== true)
      throw new PayloadDamagedError('wrong bytes were read')
  }

  /** @throws what the stop failed with; the store still has to be killed then */
  async end(how: 'stopped' | 'killed'): Promise<void> {
    const store = this.#store
    if (store === undefined) return
    await store.close(how === 'stopped')
    this.#store = undefined
    this.failures.push(...store.failures)
    await this.disk.idle()
  }
}
