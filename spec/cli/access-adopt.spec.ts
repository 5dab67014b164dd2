/** The command that an upgrade needs: a store from before changes of access were authenticated, over the command line. */
import { test } from 'tap'
import { copyGolden, GOLDEN_JOURNALS, GOLDEN_MASTER_KEY } from '../support/journals/golden-journals.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { openTestStore } from '../support/test-store.ts'
import { environment, run, spawned } from './command-runner.ts'

const MASTER_KEY = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: GOLDEN_MASTER_KEY.toString('hex') }

test('a store of an earlier version does not start until its access is adopted', async (t) => {
  const root = t.testdir()
  copyGolden(root, GOLDEN_JOURNALS[1])
  const place = ['--data-dir', root]
  const entriesBefore = journalEntries(root).length

  const refused = await spawned(['server', ...place], { ...environment, ...MASTER_KEY })
  t.equal(refused.exitCode, 23)
  t.match(
    refused.stderr,
    /26 entries .* are not authenticated.*"object-store access adopt" shows .*vouches for them\.\n$/,
  )
  t.notMatch(refused.stderr, /MASTER_KEY/, 'the key is not what is wrong')

  const shown = await run(['access', 'adopt', ...place], { environment: MASTER_KEY })
  t.equal(shown.exitCode, 0, shown.stderr)
  t.match(shown.stdout, /^account \S+ ".*"[^]*\n {2}credential \S+, access key \S+[^]*\npolicy [^]*\ntoken /)
  t.match(shown.stdout, /\nNothing was done; --yes adopts them\.\n$/)
  t.equal(journalEntries(root).length, entriesBefore, 'a look writes nothing')

  const adopted = await run(['access', 'adopt', '--yes', ...place], { environment: MASTER_KEY })
  t.equal(adopted.exitCode, 0, adopted.stderr)
  t.match(adopted.stdout, /\nAdopted: 26 entries\.\n$/)
  const store = await openTestStore(root, { masterKey: GOLDEN_MASTER_KEY })
  t.equal(store.report.adoptedEntries, 0, 'it opens without any help')
  await store.close(true)

  const entriesAfter = journalEntries(root).length
  const again = await run(['access', 'adopt', '--yes', ...place], { environment: MASTER_KEY })
  t.equal(again.exitCode, 0)
  t.match(again.stdout, /\nThere is nothing to adopt\.\n$/)
  t.equal(journalEntries(root).length, entriesAfter, 'there is nothing to write')
})

test('what cannot be adopted: nothing, no key, another key', async (t) => {
  const root = t.testdir({ empty: {}, store: {} })
  const nowhere = await run(['access', 'adopt', '--data-dir', `${root}/empty`], { environment: MASTER_KEY })
  t.equal(nowhere.exitCode, 4)
  t.match(nowhere.stderr, /there is no journal in /)
  copyGolden(`${root}/store`, GOLDEN_JOURNALS[1])
  const place = ['--data-dir', `${root}/store`]
  const keyless = await run(['access', 'adopt', ...place])
  t.equal(keyless.exitCode, 23)
  t.match(keyless.stderr, /the credential master key is not set/)
  const otherKey = await run(['access', 'adopt', '--yes', ...place], { environment })
  t.equal(otherKey.exitCode, 23)
  t.match(otherKey.stderr, /the credential master key is not the one of this store/)
  const server = await spawned(['server', ...place], environment)
  t.equal(server.exitCode, 23)
  t.match(server.stderr, /not the one of this store: its id is .*; give the key of the store/)
})
