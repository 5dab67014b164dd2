/** What the two verifiers of journals say. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import {
  type VerificationOptions,
  type VerificationReport,
  verifyJournal,
} from '../../../engine/verify/journal-verifier.ts'
import type { JournalBuilder } from './journal-builder.ts'

/** The verifier in Python, written from the page. */
export const STRANGER = 'spec/formats/verify_journal.py'

/** Verifies in the calling thread and without waiting for a writer, of whom there is none. */
export function verifyAtRest(directory: string, options: VerificationOptions = {}): Promise<VerificationReport> {
  return verifyJournal(directory, { threads: 0, settleMilliseconds: 0, ...options })
}

/** Lines about a journal that is right. */
const ENDS = /^(head|root of|key) .*\n/gm

/**
 * What the verifier in Python prints of each journal, but for head, root and key. It knows nothing but the page. One call: its
 * start takes long.
 */
export function askStranger(...journals: readonly string[]): string[] {
  const asked = spawnSync('python3', [STRANGER, ...journals], { encoding: 'utf8' })
  const { stderr } = asked
  const stdout = asked.stdout.replaceAll(ENDS, '')
  if (stderr !== '' || journals.length === 1) return [stdout + stderr]
  return journals.map((journal, index) => {
    const end = index + 1 < journals.length ? stdout.indexOf(`${journals[index + 1]}:\n`) : stdout.length
    return stdout.slice(stdout.indexOf(`${journal}:\n`) + journal.length + 2, end)
  })
}

let directories = 0
export function writeJournal(root: string, journal: JournalBuilder, head?: Buffer): string {
  directories += 1
  const directory = join(root, String(directories))
  journal.write(directory, head)
  return directory
}
