/** A batch of deletions that takes several commands, and an engine that fails after the first of them. */
import { hash } from 'node:crypto'
import { test } from 'tap'
import { EngineUnavailableError, OutcomeUnknownError } from '../../../../engine/errors.ts'
import { deleteObjects } from '../../../../planes/s3/operations/delete-objects.ts'
import type { ObjectRequest } from '../../../../planes/s3/handling/s3-request.ts'
import type { S3Services } from '../../../../planes/s3/handling/services.ts'
import { deletedIn, deletionDocument } from '../../../support/wire-deletions.ts'
import { wireRequest } from '../wire-request.ts'

/** Answers with two keys at a time; from the given command on it fails. */
async function answered(failure: Error, failsAt: number) {
  const keys = ['a', 'b', 'c', 'd', 'e'].map((Key) => ({ Key }))
  const body = Buffer.from(deletionDocument([...keys, { Key: 'f', Size: '1' }]))
  const line = ['content-md5', hash('md5', body, 'base64')] as const
  const { request, target } = wireRequest('POST', '/b?delete', [line])
  const faults: unknown[] = []
  let commands = 0
  const journal = {
    executeAs: (_named: object, { deletions }: { readonly deletions: readonly object[] }) => {
      commands += 1
      if (commands >= failsAt) return Promise.reject(failure)
      return Promise.resolve({ deletions: deletions.slice(0, 2).map(() => ({ kind: 'deleted' })) })
    },
  }
  const services = { catalog: { snapshot: () => ({ bucket: () => ({ name: 'b' }) }) } } as unknown as S3Services
  const asked = {
    http: { ...request, header: request.header.bind(request), body: { readAll: () => Promise.resolve(body) } },
    target,
    bucket: 'b',
    key: '',
    identity: { policies: undefined },
    payload: { kind: 'unsigned' },
    bodyBytesMaximum: 1024 ** 2,
    journal,
    faults: { fault: (error: unknown) => faults.push(error) },
  } as unknown as ObjectRequest
  const { status, body: answer } = (await deleteObjects.handle?.(asked, services)) ?? {}
  const told = deletedIn(String(answer)).map((one) => `${one.key} ${'code' in one ? one.code : 'deleted'}`)
  return { status, told, faults, commands }
}

test('the keys of earlier commands are told as deleted, the others with what became of them', async (t) => {
  for (const [failure, code] of [
    [new OutcomeUnknownError('the sync failed'), 'OutcomeUnknown'],
    [new EngineUnavailableError('it stops'), 'ServiceUnavailable'],
  ] as const) {
    const { status, told, faults, commands } = await answered(failure, 2)
    t.equal(status, 200)
    t.same(told, ['a deleted', 'b deleted', `c ${code}`, `d ${code}`, `e ${code}`, `f ${code}`])
    t.same(faults, [failure], 'the log has it, once')
    t.equal(commands, 2, 'nothing is tried after it')
  }
})

test('an engine that fails at the first command is the answer to the whole request', async (t) => {
  await t.rejects(answered(new OutcomeUnknownError('the sync failed'), 1), { name: 'OutcomeUnknownError' })
  await t.rejects(answered(new EngineUnavailableError('it stops'), 1), { name: 'EngineUnavailableError' })
})
