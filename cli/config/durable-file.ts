import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

const FILE_MODE = 0o600

/** Makes the names in a directory durable. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Writes a private file that is complete or absent after a crash; returns false if it already exists. */
export function createDurably(path: string, text: string): boolean {
  const draft = writeDraft(path, text)
  try {
    // Unlike a rename, a link never replaces a file that another process has just created.
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft)
    syncDirectory(dirname(path))
  }
}

/** Replaces a private file, which keeps its owner; after a crash it has the text before or this one. */
export function replaceDurably(path: string, text: string): void {
  const draft = writeDraft(path, text, statSync(path))
  try {
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft)
    throw error
  }
  syncDirectory(dirname(path))
}

function writeDraft(path: string, text: string, owner?: { readonly uid: number; readonly gid: number }): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(draft, 'wx', FILE_MODE)
  try {
    const { uid, gid } = fstatSync(descriptor)
    if (owner !== undefined && (uid !== owner.uid || gid !== owner.gid)) fchownSync(descriptor, owner.uid, owner.gid)
    const bytes = Buffer.from(text)
    if (writeSync(descriptor, bytes) !== bytes.length) throw new Error(`${draft}: the disk took only a part of it`)
    fsyncSync(descriptor)
    return draft
  } catch (error) {
    rmSync(draft)
    throw error
  } finally {
    closeSync(descriptor)
  }
}
