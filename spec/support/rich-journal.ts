import { JournalBuilder } from './journal-builder.ts'
import { KIND } from './journal-bytes.ts'

/** A journal with a record of every kind, and changes of every kind. */
export function richJournal(): JournalBuilder {
  const journal = new JournalBuilder({ startTime: 1_790_000_000_123_456 })
  const digest = Buffer.alloc(32, 0xab)
  journal.entries({
    result: 0,
    principal: 'service_account:alice',
    credentialId: 'AKIA1',
    sourceAddress: '192.0.2.7',
    requestId: 'REQUEST1',
    operation: 's3:PUT',
    resource: 'bucket:photos/a',
    metadata: ['user_agent', 'aws', 'bytes', 5_000_000_000],
  })
  journal.entries({
    intentSequence: 1,
    operation: 's3:PUT',
    resource: 'bucket:photos/a',
    changes: [
      [1, 2, 'photos', 'eu'],
      [2, 2, 'photos'],
      [3, 2, 'a', 5, 'etag', digest, ['content-type', 'text/plain'], ['__proto__', 'x'], [1, 2, 0, 64, 5, 77], false],
      [3, 2, 'b', 0, 'etag', digest, [], ['a', '1', 'a', '2'], null, true],
      [3, 2, 'c', 9, 'etag', digest, [], [], [2, 2, 'file-name', 9], true],
      [3, 2, 'd', 9, 'etag', digest, [], [], [0, 2], true],
      [4, 2, 'a'],
      [5, 0, 256, 16, digest],
      [6, '0.1.0', '00112233445566ff'],
      [7],
      [99, 'later', digest],
    ],
  })
  journal.entries({ result: 2, principal: 'anonymous', operation: 's3:GET', resource: 'bucket:photos/\u001B[31m' })
  journal.seal()
  journal.entries({ result: 3, operation: 's3:DELETE', resource: 'bucket:other/z' }, { operation: 's3:GET' })
  journal.append([{ kind: KIND.audit, body: Buffer.from([0xc1]) }])
  journal.writeAhead(1024)
  return journal
}
