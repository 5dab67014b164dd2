/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /^body: .*\\"time\\":\\"###T/,
    ask: /\/system\/metrics\/history/,
    reason: 'there are as many readings as ten seconds have passed',
  },
  {
    shape: /\.\.\.<\/(?:Resource|ArgumentValue)>/,
    reason: 'what a refusal repeats is cut (decision 0177)',
  },
  {
    shape: /There is a reference to an unknown entity\./,
    reason: 'of two faults in a document another one is told: references are read where they are',
  },
  {
    shape: /^body: .*Reads and deletes still work/,
    reason: 'the message of a full disk says what still works: reads, and deletes while the journal has room',
  },
  {
    shape: /^body: .* is now .*\\"degraded\\":/,
    ask: /\/ready |\/system\/info /,
    reason: 'what a server does not do while it serves everything else',
  },
  {
    shape: /^body: .*(?:Answers 200 if|\\"degraded\\")/,
    ask: /\/openapi\.json /,
    reason: 'readiness says what a server does not do while it serves everything else',
  },
  {
    shape: /.*\\"degraded\\":/,
    ask: /object-store status --json/,
    reason: 'the same on the command line',
  },
  {
    shape:
      /^(?:status 200 OK is now 403|headers: without etag|body: "" is now .*QuotaExceeded|records: |the request is another)/,
    ask: /\/api-quotas-bucket\/four\?uploadId=/,
    reason: 'a part counts against the quota when it is stored (decision 0175)',
  },
]
