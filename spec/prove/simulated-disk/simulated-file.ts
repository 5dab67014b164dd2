import { type DiskFile, ShortWriteError } from '../../../engine/disk/disk.ts'
import type { FileNode } from './file-node.ts'

/** What an open file asks of the disk that it is on. */
export interface FileHost {
  /** Counts an operation. @throws PowerCutError when the power is gone */
  use(): void
  /** Called before a read: the cache may have made room meanwhile. */
  look(node: FileNode): void
  /** Waits as an operation in the background does. */
  pause(): Promise<void>
  /** How many of so many bytes at a position still fit; fewer on a full disk. */
  fitting(node: FileNode, position: number, bytes: number): number
}

/** An open file of a simulated disk; reaches its bytes under whatever name, or none. */
export class SimulatedFile implements DiskFile {
  readonly path: string
  readonly #host: FileHost
  readonly #node: FileNode
  readonly #writes: boolean

  constructor(host: FileHost, path: string, node: FileNode, writes: boolean) {
    this.#host = host
    this.path = path
    this.#node = node
    this.#writes = writes
  }

  writeAt(bytes: Uint8Array, position: number): void {
    this.#host.use()
    this.#mustWrite()
    const fitting = this.#host.fitting(this.#node, position, bytes.length)
    this.#node.write(bytes.subarray(0, fitting), position)
    if (fitting < bytes.length) throw new ShortWriteError(`${this.path}: wrote ${fitting} of ${bytes.length} bytes`)
  }

  readAt(target: Uint8Array, position: number, length: number): number {
    this.#host.look(this.#node)
    return this.#node.read(target, position, length)
  }

  sync(): void {
    this.#host.use()
    this.#node.sync()
  }

  size(): number {
    return this.#node.length
  }

  truncate(length: number): void {
    this.#host.use()
    this.#mustWrite()
    this.#node.truncate(length)
  }

  seal(): void {
    this.#host.use()
    this.#node.makeReadOnly()
    this.sync()
  }

  /** Nothing to give back, and allowed without power, so that a store can be closed. */
  close(): void {}

  async writeAtAsync(bytes: Uint8Array, position: number): Promise<void> {
    await this.#host.pause()
    this.writeAt(bytes, position)
  }

  async readAtAsync(target: Uint8Array, position: number, length: number): Promise<number> {
    await this.#host.pause()
    return this.readAt(target, position, length)
  }

  async syncAsync(): Promise<void> {
    await this.#host.pause()
    this.sync()
  }

  async closeAsync(): Promise<void> {
    this.close()
  }

  #mustWrite(): void {
    if (!this.#writes) throw Object.assign(new Error(`EBADF: ${this.path} is open to read`), { code: 'EBADF' })
  }
}
