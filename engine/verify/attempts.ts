import type { SegmentResult } from './segment-result.ts'
import type { ProblemList } from './verdicts.ts'

/**
 * Finds attempts in earlier segments than their changes, as long uploads have.
 * @param from first sequence that is examined
 */
export function joinAttempts(results: readonly SegmentResult[], from: number, problems: ProblemList): void {
  const open = new Map<number, number>()
  for (const { name: segment, distantChanges, openAttempts } of results) {
    for (const { sequence, offset, intent, fingerprint } of distantChanges) {
      if (intent < from || open.get(intent) === fingerprint) continue
      const detail = `the attempt ${intent} that it names is not there, or is of another request`
      problems.add({ segment, offset, sequence, verdict: 'change without its attempt', detail })
    }
    for (const { sequence, fingerprint } of openAttempts) open.set(sequence, fingerprint)
  }
}

/** Starts, stops and other changes by the system itself belong to it, whatever the entry says. */
export function notesAboutPrincipals(results: readonly SegmentResult[]): string[] {
  const count = results.reduce((sum, { otherPrincipals }) => sum + otherPrincipals, 0)
  return count === 0 ? [] : [`${count} changes that the system makes by itself carry another principal.`]
}
