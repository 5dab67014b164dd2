/**
 * The AWS command line and restic with their defaults, over HTTP and over TLS, against servers with everything of
 * `s3.extensions`: the programs of aws-cli.spec.ts and tls.spec.ts, and what those are refused.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, succeeds, tells } from './aws-command.ts'
import { largeFiles, treeBothWays } from './aws-round-trips.ts'
import { startBoth, type Target } from './both-servers.ts'
import { type Program, programs } from './client-programs.ts'
import { oddTree } from './file-tree.ts'
import { resticRoundTrips } from './restic-round-trips.ts'

const both = await startBoth({ extended: true })
const place = temporaryDirectory()
const large = sampleBytes(20 * 1024 ** 2 + 1)
const tree = oddTree(60)

/** A directory of its own. */
function directoryOf(name: string): string {
  const directory = join(place, name)
  mkdirSync(directory)
  return directory
}

async function awsRoundTrips(t: Test, program: Program, index: number, target: Target): Promise<void> {
  const bucket = `aws-${index}`
  const directory = directoryOf(`aws-${index}-${target.name}`)
  const environment = target.authority === undefined ? {} : { AWS_CA_BUNDLE: target.authority }
  const aws = awsCommand(program, target, directory, { environment, byDefault: true })
  const piped = awsCommand(program, target, directory, { environment, byDefault: true, input: large })
  const there = ['--bucket', bucket]
  await succeeds(t, aws('s3', 'mb', `s3://${bucket}`), 'mb')
  await largeFiles(t, { aws, copying: aws, piped }, large, bucket, directory)
  await treeBothWays(t, aws, tree, bucket, directory)
  const head = ['s3api', 'head-object', ...there, '--key', 'large', '--checksum-mode', 'ENABLED']
  t.match(await tells(t, aws(...head), 'head with its checksum'), { ContentLength: large.length })
  const listing = ['s3api', 'list-objects', ...there, '--page-size', '1', '--query', 'Contents[].Key']
  t.same(await tells(t, aws(...listing), 'list-objects'), ['large', 'moved'])
  const names = ['--delete', 'Objects=[{Key=large},{Key=moved},{Key=never was}]']
  const removed = (await tells(t, aws('s3api', 'delete-objects', ...there, ...names), 'delete-objects')) as {
    readonly Deleted: readonly { readonly Key: string }[]
  }
  t.same(removed.Deleted.map(({ Key }) => Key).toSorted(), ['large', 'moved', 'never was'])
  t.same(await target.heldBy(bucket), [], 'nothing is left, no open upload either')
  await succeeds(t, aws('s3', 'rb', `s3://${bucket}`), 'rb')
}

const versions = await programs('aws', ['--version'])
for (const target of both.targets) {
  for (const [index, program] of versions.entries()) {
    test(`${program.version} over ${target.name}`, (t) => awsRoundTrips(t, program, index, target))
  }
  test(`restic over ${target.name}`, (t) => resticRoundTrips(t, target, directoryOf(`restic-${target.name}`)))
}

test('end', async () => {
  await both.stop()
  rmSync(place, { recursive: true })
})
