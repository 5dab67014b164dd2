import { basename, dirname, join, sep } from 'node:path'
import { type Disk, type DiskFile, DiskFullError, type DiskSpace } from '../../../engine/disk/disk.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { Random } from '../../support/random.ts'
import { type CrashChoice, type CrashDecision, everyOutcome, nothingLands } from './crash-choices.ts'
import { DirectoryNode, type NameOperation, type Node } from './directory-node.ts'
import { FileNode } from './file-node.ts'
import { countedFile } from './real-file.ts'
import { isProjections, isSmallFile } from './real-paths.ts'
import { JUNK, type Sector } from './sectors.ts'
import { type FileHost, SimulatedFile } from './simulated-file.ts'

/** The power is gone, or the process is: nothing more reaches the disk. */
export class PowerCutError extends Error {
  override readonly name = 'PowerCutError'
}

/** Enough space to write, and too little for the store to set any aside. */
const SPACE: DiskSpace = { capacityBytes: 1024 ** 3, availableBytes: 48 * 1024 ** 2 }
/** Turns of the loop that an operation in the background waits at most. */
const PAUSES_MAXIMUM = 4
/** One read in so many finds that pages which a failed sync left behind are gone. */
const READS_OF_A_LIE = 8

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}

/**
 * A disk in memory with a page cache and a medium apart from each other (requirement X1). What is read is what was
 * written; what a power cut leaves is what was synced, and of everything else any legal part:
 *
 * - of each 512-byte sector any version since the last sync of its file, whatever became of other sectors;
 * - of the length of a file any since its last sync, also without the data: then zeros are read, or what a file that is
 *   no more had at that place;
 * - of the names of a directory any subset of the operations since its last sync, in order. Within one directory a
 *   rename lands as a whole; between two, the new name and the loss of the old one land apart.
 *
 * That is more than any one file system does; the store is written for all of them. `makeDirectory` syncs the parent, as
 * the interface says. Everything below `root` is simulated, but for the directories of the projections: LMDB opens
 * them by path, so they are on the file system at `root`, and what becomes of them in a crash is up to the caller.
 *
 * `crash` and `clone` return new disks; the one that they are asked of stays as it is. Every operation that changes
 * something or makes it durable is counted in `used` and fails with `PowerCutError` once `left` of them were made.
 * Closing and removing never fail, so that a store can be closed without power.
 */
export class SimulatedDisk implements Disk, FileHost {
  readonly root: string
  /** Operations until the power goes. */
  left = Number.POSITIVE_INFINITY
  /** Operations so far. */
  used = 0
  /** Bytes by which files can still grow before the disk is full. */
  roomBytes = Number.POSITIVE_INFINITY
  /** What it says is free; undefined for the usual. Writes go by `roomBytes`. */
  availableBytes: number | undefined
  /**
   * Decides how long operations in the background wait, and for how long the cache keeps what a failed sync left behind.
   * Without it they wait for one turn, and it keeps that for good.
   */
  timing: Random | undefined
  #tree: DirectoryNode
  /** The file that was last removed or replaced: its bytes are still on the medium. */
  #removed: FileNode | undefined

  /** `root`: absolute path; it is there from the beginning, and empty. */
  constructor(root: string) {
    this.root = root
    this.#tree = new DirectoryNode(root)
  }

  get isOn(): boolean {
    return this.left > 0
  }

  /** The same once more, all that is not synced included: what a new process finds when the old one was killed. */
  clone(): SimulatedDisk {
    const copies = new Map<Node, Node>()
    const copied = <T extends Node>(node: T): T => {
      const known = copies.get(node)
      if (known !== undefined) return known as T
      const copy = node.kind === 'file' ? node.copy() : new DirectoryNode(node.madeAs)
      copies.set(node, copy)
      if (node.kind === 'directory') node.copyInto(copy as DirectoryNode, copied)
      return copy as T
    }
    return this.#successor(copied(this.#tree), this.#removed && copied(this.#removed))
  }

  /** What the medium holds after a power cut, by the decisions of `decide`; all of it is durable. */
  crash(decide: CrashDecision): SimulatedDisk {
    const copies = new Map<Node, Node>()
    const landed = <T extends Node>(node: T): T => {
      const known = copies.get(node)
      if (known !== undefined) return known as T
      const copy = node.kind === 'file' ? node.crashed(decide, this.#stale) : landedDirectory(node, decide, landed)
      copies.set(node, copy)
      return copy as T
    }
    return this.#successor(landed(this.#tree), this.#removed?.crashed(nothingLands, this.#stale))
  }

  /**
   * Every disk that a power cut at this moment may leave, each once by its decisions (two may hold the same).
   * @throws RangeError when there are more than `maximum`
   */
  everyCrash(maximum: number): Generator<SimulatedDisk> {
    return everyOutcome((decide) => this.crash(decide), maximum)
  }

  /** What a power cut at this moment would decide first to last, if nothing unsynced landed. */
  pending(): CrashChoice[] {
    const choices: CrashChoice[] = []
    this.crash((choice) => {
      choices.push(choice)
      return 0
    })
    return choices
  }

  /** Every file by its path, with what is read from it; directories end with a slash. Damage is not seen. */
  contents(): Map<string, Buffer> {
    const found = new Map<string, Buffer>()
    for (const [path, node] of this.#nodes()) {
      found.set(node.kind === 'file' ? path : path + sep, node.kind === 'file' ? node.bytes() : Buffer.alloc(0))
    }
    return found
  }

  /** The node of a file, for damaging it, or undefined. */
  file(path: string): FileNode | undefined {
    const node = this.#node(path)
    return node?.kind === 'file' ? node : undefined
  }

  /** Takes the rot off every file. */
  heal(): void {
    for (const [, node] of this.#nodes()) if (node.kind === 'file') node.rot.heal()
  }

  /** A sync of a file that fails and then lies: see `FileNode.failSync`. The caller throws the error. */
  failSync(path: string, decide: CrashDecision): void {
    this.file(path)?.failSync(decide, this.#stale)
  }

  use(): void {
    if (!this.isOn) throw new PowerCutError('the power is gone')
    this.left -= 1
    this.used += 1
    if (!this.isOn) throw new PowerCutError('the power is gone')
  }

  look(node: FileNode): void {
    if (node.isLying && this.timing?.below(READS_OF_A_LIE) === 0) node.forgetLies()
  }

  async pause(): Promise<void> {
    const turns = this.timing === undefined ? 1 : this.timing.below(PAUSES_MAXIMUM + 1)
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
  }

  fitting(node: FileNode, position: number, bytes: number): number {
    const growth = Math.max(0, position + bytes - node.length)
    const fits = growth <= this.roomBytes
    if (!fits && growth - this.roomBytes >= bytes) throw new DiskFullError('ENOSPC: no space left on device')
    const fitting = fits ? bytes : bytes - (growth - this.roomBytes)
    this.roomBytes -= fits ? growth : this.roomBytes
    return fitting
  }

  create(path: string): DiskFile {
    this.use()
    if (this.#isReal(dirname(path))) return countedFile(nodeDisk.create(path), () => this.use())
    const directory = this.#directoryOf(path)
    if (directory.names.has(basename(path))) throw systemError('EEXIST', path)
    const node = new FileNode(path)
    directory.change({ title: `create ${basename(path)}`, bind: { name: basename(path), node } })
    return new SimulatedFile(this, path, node, true)
  }

  openToWrite(path: string): DiskFile {
    this.use()
    if (this.#isReal(dirname(path))) return countedFile(nodeDisk.openToWrite(path), () => this.use())
    const node = this.#existing(path)
    if (node.isReadOnly) throw systemError('EACCES', path)
    return new SimulatedFile(this, path, node, true)
  }

  openToRead(path: string): DiskFile {
    if (this.#isReal(dirname(path))) return nodeDisk.openToRead(path)
    return new SimulatedFile(this, path, this.#existing(path), false)
  }

  async createAsync(path: string): Promise<DiskFile> {
    await this.pause()
    return this.create(path)
  }

  async openToReadAsync(path: string): Promise<DiskFile> {
    await this.pause()
    return this.openToRead(path)
  }

  makeDirectory(path: string): void {
    if (this.#isReal(path)) return nodeDisk.makeDirectory(path)
    if (this.#node(path) !== undefined) return
    const parent = dirname(path)
    this.makeDirectory(parent)
    this.use()
    const node = new DirectoryNode(path)
    this.#directoryOf(path).change({ title: `make ${basename(path)}`, bind: { name: basename(path), node } })
    this.syncDirectory(parent)
  }

  syncDirectory(path: string): void {
    this.use()
    if (this.#isReal(path)) return nodeDisk.syncDirectory(path)
    const node = this.#node(path)
    if (node?.kind !== 'directory') throw systemError('ENOENT', path)
    node.sync()
  }

  async syncDirectoryAsync(path: string): Promise<void> {
    await this.pause()
    this.syncDirectory(path)
  }

  rename(from: string, to: string): void {
    if (this.#isReal(from) || isSmallFile(this.root, from)) return nodeDisk.rename(from, to)
    this.use()
    const node = this.#existing(from)
    if (this.#isReal(dirname(to))) return this.#moveToReal(node, from, to)
    this.#removed = this.file(to) ?? this.#removed
    const [source, target] = [this.#directoryOf(from), this.#directoryOf(to)]
    const title = `rename ${basename(from)} to ${basename(to)}`
    const binding = { title, bind: { name: basename(to), node } }
    if (source === target) return source.change({ ...binding, unbind: basename(from) })
    target.change(binding)
    source.change({ title, unbind: basename(from) })
  }

  async renameAsync(from: string, to: string): Promise<void> {
    await this.pause()
    this.rename(from, to)
  }

  remove(path: string): void {
    if (!this.isOn) return
    if (isSmallFile(this.root, path)) return nodeDisk.remove(path)
    const node = this.file(path)
    if (node === undefined) return
    this.left -= 1
    this.used += 1
    if (!this.isOn) return
    this.#removed = node
    const operation: NameOperation = { title: `remove ${basename(path)}`, unbind: basename(path) }
    this.#directoryOf(path).change(operation)
  }

  async removeAsync(path: string): Promise<void> {
    await this.pause()
    this.remove(path)
  }

  removeTree(path: string): void {
    if (!this.#isReal(path)) throw new Error(`only projections are removed as a tree, not ${path}`)
    this.use()
    nodeDisk.removeTree(path)
  }

  exists(path: string): boolean {
    return this.#isReal(path) || isSmallFile(this.root, path) ? nodeDisk.exists(path) : this.#node(path) !== undefined
  }

  list(path: string): string[] {
    const node = this.#node(path)
    return node?.kind === 'directory' ? [...node.names.keys()].toSorted() : []
  }

  sizeOf(path: string): number {
    return this.file(path)?.length ?? 0
  }

  space(): DiskSpace {
    return { ...SPACE, availableBytes: this.availableBytes ?? SPACE.availableBytes }
  }

  readonly #stale = (sector: number): Sector => this.#removed?.durableSector(sector) ?? JUNK

  #successor(tree: DirectoryNode, removed: FileNode | undefined): SimulatedDisk {
    const disk = new SimulatedDisk(this.root)
    disk.#tree = tree
    disk.#removed = removed
    disk.timing = this.timing
    return disk
  }

  *#nodes(path = this.root, directory = this.#tree): Generator<[string, Node]> {
    for (const [name, node] of [...directory.names].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
      yield [join(path, name), node]
      if (node.kind === 'directory') yield* this.#nodes(join(path, name), node)
    }
  }

  /** The old name may come back after a crash. */
  #moveToReal(node: FileNode, from: string, to: string): void {
    const file = nodeDisk.create(to)
    file.writeAt(node.damagedBytes(), 0)
    file.close()
    this.#directoryOf(from).change({ title: `move ${basename(from)}`, unbind: basename(from) })
  }

  #isReal(path: string): boolean {
    return isProjections(this.root, path)
  }

  #node(path: string): Node | undefined {
    if (path === this.root) return this.#tree
    let node: Node | undefined = this.#tree
    for (const name of path.slice(this.root.length + 1).split(sep)) {
      node = node?.kind === 'directory' ? node.names.get(name) : undefined
    }
    return node
  }

  #existing(path: string): FileNode {
    const node = this.file(path)
    if (node === undefined) throw systemError('ENOENT', path)
    return node
  }

  #directoryOf(path: string): DirectoryNode {
    const node = this.#node(dirname(path))
    if (node?.kind !== 'directory') throw systemError('ENOENT', path)
    return node
  }
}

function landedDirectory(
  node: DirectoryNode,
  decide: CrashDecision,
  landed: <T extends Node>(node: T) => T,
): DirectoryNode {
  const names = [...node.landed(decide)].map(([name, child]): [string, Node] => [name, landed(child)])
  return DirectoryNode.crashed(node.madeAs, new Map(names))
}
