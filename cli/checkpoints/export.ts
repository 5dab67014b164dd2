import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import {
  CheckpointNoteError,
  type CheckpointStatement,
  readCheckpointNote,
} from '../../engine/checkpoints/checkpoint-note.ts'
import { ENTRY_BYTES, TILE_WIDTH, TileTree } from '../../engine/checkpoints/tile-tree.ts'
import { pathOfTile } from '../../planes/management/requests/tile-path.ts'
import { ClientCommand } from '../client/client-command.ts'
import type { ManagementClient } from '../client/management-client.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import { saveFile } from '../terminal/save-file.ts'

const CHECKPOINT = 'checkpoint'
/** Mode of exported files: a web server runs as another user. */
const FOR_EVERYBODY = 0o644
/** A tree with more levels would have more records than the largest sequence. */
const LEVELS_MAXIMUM = 6

export class CheckpointExportCommand extends ClientCommand {
  static override paths = [['checkpoint', 'export']]

  static override usage = Command.Usage({
    category: 'Checkpoints',
    description: 'write the log as files that any web server can serve',
    details: `
      The directory gets the entries and hashes of the log as C2SP tlog-tiles has them, and the last checkpoint, which is
      written when everything that it covers is there and leads to its root. What is there already is not fetched again, so a
      command that was interrupted goes on where it was, and a later one adds what is new. It refuses a directory of a log
      that this one does not continue. Incomplete tiles that later ones replace are removed.
    `,
    examples: [['For a web server', '$0 checkpoint export /var/www/log']],
  })

  directory = Option.String({ name: 'directory' })

  override async execute(): Promise<number> {
    const directory = resolve(this.context.workingDirectory, this.directory)
    const client = this.client()
    const note = await client.text({ method: 'GET', path: '/transparency/checkpoint' })
    const checkpoint = statementOf(note, 'the server')
    const before = earlierIn(directory, checkpoint)
    const progress = new ProgressBar(this.context.stderr)
    const fetched = await new LogExport(client, directory, checkpoint, before).run((records) =>
      progress.draw(records / checkpoint.size, `${records} records`),
    )
    progress.clear()
    save(join(directory, CHECKPOINT), Buffer.from(note))
    if (before !== undefined) removeReplaced(directory, before.size, checkpoint.size)
    const { origin, size } = checkpoint
    this.print({ directory, origin, size, fetched }, (done) =>
      Object.entries(done).map(([name, value]) => [name, String(value)]),
    )
    return exitTable.ok.code
  }
}

class LogExport {
  readonly #client: ManagementClient
  readonly #directory: string
  readonly #checkpoint: CheckpointStatement
  readonly #before: CheckpointStatement | undefined
  readonly #tree = new TileTree()

  constructor(
    client: ManagementClient,
    directory: string,
    checkpoint: CheckpointStatement,
    before: CheckpointStatement | undefined,
  ) {
    this.#client = client
    this.#directory = directory
    this.#checkpoint = checkpoint
    this.#before = before
  }

  /** Fetches missing tiles. Returns how many were fetched. @throws ExitError `proofFailed` */
  async run(onProgress: (records: number) => void): Promise<number> {
    const { size, root } = this.#checkpoint
    let fetched = 0
    for (let start = 0; start < size; start += TILE_WIDTH) {
      const name = { level: 'entries', index: start / TILE_WIDTH, width: Math.min(TILE_WIDTH, size - start) } as const
      const path = join(this.#directory, 'tile', pathOfTile(name))
      const bytes = name.width * ENTRY_BYTES
      const isThere = hasFile(path, bytes)
      const entries = isThere ? readFileSync(path) : await this.#fetch(pathOfTile(name), bytes)
      this.#requireEarlier(start, entries)
      if (!isThere) save(path, entries)
      if (!isThere) fetched += 1
      for (const tile of this.#tree.add(entries)) this.#keep(tile)
      onProgress(start + name.width)
    }
    if (this.#tree.root()?.equals(root) !== true) {
      const remedy = `remove ${join(this.#directory, 'tile')} and export again`
      throw new ExitError('proofFailed', `the entries do not lead to the root of the checkpoint: ${remedy}`)
    }
    for (const tile of this.#tree.rest()) this.#keep(tile)
    return fetched
  }

  async #fetch(tile: string, bytes: number): Promise<Buffer> {
    const entries = await this.#client.bytes({ method: 'GET', path: `/transparency/tile/${tile}` })
    if (entries.length === bytes) return entries
    throw new ExitError('failed', `the server sent ${entries.length} bytes as ${tile}, and not ${bytes}`)
  }

  /** The log in the directory must be the beginning of this one. @throws ExitError `proofFailed` */
  #requireEarlier(start: number, entries: Buffer): void {
    const before = this.#before
    if (before === undefined || before.size <= start || before.size > start + entries.length / ENTRY_BYTES) return
    const root = this.#tree.root(entries.subarray(0, (before.size - start) * ENTRY_BYTES))
    if (root !== undefined && Buffer.compare(root, before.root) === 0) return
    throw new ExitError(
      'proofFailed',
      `the log of the server does not continue the checkpoint of ${before.size} records in ${this.#directory}: keep both, and ask why`,
    )
  }

  #keep({ level, index, bytes }: { readonly level: number; readonly index: number; readonly bytes: Buffer }): void {
    const width = bytes.length / 32
    const path = join(this.#directory, 'tile', pathOfTile({ level, index, width }))
    if (!hasFile(path, bytes.length) || !readFileSync(path).equals(bytes)) save(path, bytes)
  }
}

/**
 * Removes incomplete tiles that the log had at an earlier size and that later ones replace. The previous checkpoint's
 * tiles stay until the tile is complete: a reader may have started with them.
 */
function removeReplaced(directory: string, before: number, now: number): void {
  const levels = Array.from({ length: LEVELS_MAXIMUM }, (_, level) => ({ level, below: level }))
  for (const { level, below } of [{ level: 'entries', below: 0 } as const, ...levels]) {
    const [hashes, present] = [before, now].map((size) => Math.floor(size / TILE_WIDTH ** below)) as [number, number]
    const index = Math.floor(hashes / TILE_WIDTH)
    const widths = [hashes, present].map((count) => String(count - index * TILE_WIDTH))
    const partial = join(directory, 'tile', dirname(pathOfTile({ level, index, width: 1 })))
    if (!existsSync(partial)) continue
    if (present >= (index + 1) * TILE_WIDTH) rmSync(partial, { recursive: true })
    else for (const name of readdirSync(partial)) if (!widths.includes(name)) rmSync(join(partial, name))
  }
}

/** The checkpoint that a directory has of this log. @throws ExitError `usage` for one of another or a later log */
function earlierIn(directory: string, { origin, size }: CheckpointStatement): CheckpointStatement | undefined {
  const path = join(directory, CHECKPOINT)
  if (!existsSync(path)) return undefined
  const before = statementOf(readFileSync(path, 'utf8'), path)
  if (before.origin !== origin)
    throw new ExitError('usage', `${directory} holds the log ${before.origin}, not ${origin}`)
  if (before.size <= size) return before
  throw new ExitError(
    'proofFailed',
    `${directory} holds a checkpoint of ${before.size} records, and the server has one of ${size}: it was rolled back`,
  )
}

/** @throws ExitError `proofFailed` */
function statementOf(note: string, where: string): CheckpointStatement {
  try {
    return readCheckpointNote(note)
  } catch (error) {
    if (!(error instanceof CheckpointNoteError)) throw error
    throw new ExitError('proofFailed', `${where}: ${error.message}`)
  }
}

function hasFile(path: string, bytes: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === bytes
}

function save(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  saveFile(path, bytes)
  chmodSync(path, FOR_EVERYBODY)
}
