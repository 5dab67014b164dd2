/** The AWS command line on buckets with versions and with Object Lock. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, refuses, succeeds, tells } from './aws-command.ts'
import { programs } from './client-programs.ts'

const server = await startProcess()
const place = temporaryDirectory()
const UNTIL = '2140-01-01T00:00:00+00:00'

interface Put {
  readonly VersionId: string
}

for (const [index, program] of (await programs('aws', ['--version'])).entries()) {
  const aws = awsCommand(program, server, place)

  test(`${program.version}: versions`, async (t) => {
    const there = ['--bucket', `versions-${index}`]
    const object = [...there, '--key', 'key']
    await succeeds(t, aws('s3api', 'create-bucket', ...there), 'create')
    t.equal(await tells(t, aws('s3api', 'get-bucket-versioning', ...there), 'never set'), undefined)
    const enabled = ['--versioning-configuration', 'Status=Enabled']
    await succeeds(t, aws('s3api', 'put-bucket-versioning', ...there, ...enabled), 'enable')
    t.same(await tells(t, aws('s3api', 'get-bucket-versioning', ...there), 'status'), { Status: 'Enabled' })
    const ids: string[] = []
    for (const text of ['first', 'second']) {
      writeFileSync(join(place, 'body'), text)
      const put = await tells(t, aws('s3api', 'put-object', ...object, '--body', 'body'), text)
      ids.unshift((put as Put).VersionId)
    }
    const deleted = await tells(t, aws('s3api', 'delete-object', ...object), 'delete')
    t.match(deleted, { DeleteMarker: true })
    const marker = (deleted as Put).VersionId
    await refuses(t, aws('s3api', 'get-object', ...object, 'back'), 'NoSuchKey')
    const list = ['s3api', 'list-object-versions', ...there, '--page-size', '1']
    t.match(await tells(t, aws(...list), 'list'), {
      Versions: [
        { Key: 'key', VersionId: ids[0], IsLatest: false, Size: 6 },
        { Key: 'key', VersionId: ids[1], IsLatest: false, Size: 5 },
      ],
      DeleteMarkers: [{ Key: 'key', VersionId: marker, IsLatest: true }],
    })
    await succeeds(t, aws('s3api', 'get-object', ...object, '--version-id', ids[1] ?? '', 'back'), 'get the first')
    t.equal(readFileSync(join(place, 'back'), 'utf8'), 'first')
    await succeeds(t, aws('s3api', 'delete-object', ...object, '--version-id', marker), 'delete the marker')
    await succeeds(t, aws('s3api', 'get-object', ...object, 'back'), 'get')
    t.equal(readFileSync(join(place, 'back'), 'utf8'), 'second', 'the newest is current again')
    const source = ['--copy-source', `versions-${index}/key?versionId=${ids[1]}`]
    const copied = await tells(t, aws('s3api', 'copy-object', ...object, ...source), 'restore the first')
    t.match(copied, { CopySourceVersionId: ids[1] })
    await succeeds(t, aws('s3api', 'get-object', ...object, 'back'), 'get')
    t.equal(readFileSync(join(place, 'back'), 'utf8'), 'first')
    const suspended = ['--versioning-configuration', 'Status=Suspended']
    await succeeds(t, aws('s3api', 'put-bucket-versioning', ...there, ...suspended), 'suspend')
    t.same(await tells(t, aws('s3api', 'get-bucket-versioning', ...there), 'status'), { Status: 'Suspended' })
    await refuses(t, aws('s3api', 'delete-bucket', ...there), 'BucketNotEmpty')
  })

  test(`${program.version}: Object Lock`, async (t) => {
    const there = ['--bucket', `locked-${index}`]
    const object = [...there, '--key', 'key']
    await succeeds(t, aws('s3api', 'create-bucket', ...there, '--object-lock-enabled-for-bucket'), 'create')
    t.match(await tells(t, aws('s3api', 'get-bucket-versioning', ...there), 'versioning'), { Status: 'Enabled' })
    const Rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }
    const lock = JSON.stringify({ ObjectLockEnabled: 'Enabled', Rule })
    const set = ['put-object-lock-configuration', ...there, '--object-lock-configuration', lock]
    await succeeds(t, aws('s3api', ...set), 'set the default')
    const told = await tells(t, aws('s3api', 'get-object-lock-configuration', ...there), 'the default')
    t.same(told, { ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule } })
    writeFileSync(join(place, 'body'), 'kept')
    const put = (await tells(t, aws('s3api', 'put-object', ...object, '--body', 'body'), 'put')) as Put
    const version = [...object, '--version-id', put.VersionId]
    t.match(await tells(t, aws('s3api', 'head-object', ...object), 'head'), { ObjectLockMode: 'GOVERNANCE' })
    await refuses(t, aws('s3api', 'delete-object', ...version), 'AccessDenied', 'governance')
    const longer = ['--retention', JSON.stringify({ Mode: 'GOVERNANCE', RetainUntilDate: UNTIL })]
    await succeeds(t, aws('s3api', 'put-object-retention', ...version, ...longer), 'longer')
    const retention = await tells(t, aws('s3api', 'get-object-retention', ...version), 'retention')
    t.match(retention, { Retention: { Mode: 'GOVERNANCE', RetainUntilDate: /^2140-01-01T00:00:00/ } })
    const hold = (status: string) => ['put-object-legal-hold', ...version, '--legal-hold', `Status=${status}`]
    await succeeds(t, aws('s3api', ...hold('ON')), 'hold')
    t.same(await tells(t, aws('s3api', 'get-object-legal-hold', ...version), 'hold'), { LegalHold: { Status: 'ON' } })
    const bypass = ['delete-object', ...version, '--bypass-governance-retention']
    await refuses(t, aws('s3api', ...bypass), 'AccessDenied', 'legal hold')
    await succeeds(t, aws('s3api', ...hold('OFF')), 'release')
    await succeeds(t, aws('s3api', ...bypass), 'delete with a bypass')
    await refuses(t, aws('s3api', 'head-object', ...version), '404')
    const strict = ['--object-lock-mode', 'COMPLIANCE', '--object-lock-retain-until-date', UNTIL]
    const compliance = await tells(t, aws('s3api', 'put-object', ...object, '--body', 'body', ...strict), 'compliance')
    const held = ['delete-object', ...object, '--version-id', (compliance as Put).VersionId]
    await refuses(t, aws('s3api', ...held, '--bypass-governance-retention'), 'AccessDenied', 'compliance')
    await succeeds(t, aws('s3', 'rm', `s3://locked-${index}/key`), 'a marker hides it')
    await refuses(t, aws('s3', 'rb', '--force', `s3://locked-${index}`), 'BucketNotEmpty')
  })
}

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
