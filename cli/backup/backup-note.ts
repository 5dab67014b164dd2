import { type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import { CheckedNote } from '../../engine/disk/checked-note.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'

/** A backup of this data directory that ended well. */
export interface NotedBackup {
  /** When it ended. */
  readonly atMilliseconds: Milliseconds
  /** Last record that it has. */
  readonly sequence: number
  readonly directory: string
  /** Payloads that the store lacked. */
  readonly missing: number
}

/** The last backup, as far as it is known, and why a note was ignored. */
interface ReadBackupNote {
  readonly backup: NotedBackup | undefined
  readonly ignored: string | undefined
}

interface NoteJson {
  readonly deployment_id: string
  readonly at: number
  readonly sequence: number
  readonly directory: string
  readonly missing: number
}

/** The file `backed-up` of a data directory: a server says with it how old the last backup is. */
export class BackupNote {
  readonly #note: CheckedNote
  readonly #deploymentId: string

  /** @param deploymentId in hexadecimal */
  constructor(disk: Disk, paths: StorePaths, deploymentId: string) {
    this.#note = new CheckedNote(disk, paths.root, paths.backedUp)
    this.#deploymentId = deploymentId
  }

  /** @param head the last sequence of the journal: a backup of later records is one of another journal */
  read(head = Number.POSITIVE_INFINITY): ReadBackupNote {
    const found = this.#note.read()
    if ('ignored' in found) return { backup: undefined, ignored: found.ignored }
    if (found.text === undefined) return { backup: undefined, ignored: undefined }
    try {
      const { deployment_id: id, at, sequence, directory, missing } = JSON.parse(found.text) as NoteJson
      if (![at, sequence, missing].every(Number.isSafeInteger)) throw new TypeError('no whole number')
      if (id !== this.#deploymentId || sequence > head) {
        return { backup: undefined, ignored: 'it is about another journal' }
      }
      return { backup: { atMilliseconds: millisecondsOf(at), sequence, directory, missing }, ignored: undefined }
    } catch {
      // Its checksum is right: a program with another form of it wrote it.
      return { backup: undefined, ignored: 'its form is unknown' }
    }
  }

  /** @throws the errors of the disk */
  keep({ atMilliseconds, sequence, directory, missing }: NotedBackup): void {
    const at = atMilliseconds as number
    this.#note.write(JSON.stringify({ deployment_id: this.#deploymentId, at, sequence, directory, missing }))
  }
}
