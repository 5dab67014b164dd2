/** What the independent verifier says of the journal of a world. */
import { verifyJournal, type VerificationReport } from '../../../../engine/verify/journal-verifier.ts'
import type { WorldHost } from '../world-host.ts'

/** @throws the disk's errors */
export function verdictOn({ disk, paths }: Pick<WorldHost, 'disk' | 'paths'>): Promise<VerificationReport> {
  return verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0, files: disk })
}

/** @throws Error when the verifier finds something */
export async function requireIntactJournal(host: WorldHost): Promise<void> {
  const { problems } = await verdictOn(host)
  if (problems.length > 0) throw new Error(`the journal is not intact: ${JSON.stringify(problems[0])}`)
}
