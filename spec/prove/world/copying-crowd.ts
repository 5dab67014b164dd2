/** A greedy client that copies large parts, and a modest one that copies a small one and must not wait for all of them. */
import type { Credential } from '../../../planes/s3/signing/identity.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import { deleteObject } from '../../model/operations/deletions.ts'
import { abortUpload, createUpload } from '../../model/operations/multipart.ts'
import { copyPart } from '../../model/operations/part-copies.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { firstElement } from '../../support/wire-client.ts'
import { ACCOUNTS, turns } from './crowd.ts'
import { requireSharesBack, sharesInUse } from './shares-in-use.ts'
import { type Chance, stepByChance } from './step-by-chance.ts'

/** A source of so many pieces of 64 KiB, after each of which a copy gives way. */
const SOURCE_BYTES = 2 * 1024 ** 2
const SOURCE = { bucket: 'plain', key: 'source of a crowd' }
const GREEDY_COPIES = 4
/** Turns that a modest copy waits at most: each of the two copies that have one gives way after a piece. All take 25. */
const TURNS_MAXIMUM = 6

async function copyingCrowd(chance: Chance): Promise<void> {
  const { model, world, place } = chance
  model.log.push('a greedy client copies parts')
  const request = { ...SOURCE, content: contentOf(1, SOURCE_BYTES), headers: [], lock: {}, condition: UNCONDITIONAL }
  await judged(chance, putObject(request))
  const created = await judged(chance, createUpload(place.bucket, place.key, [], {}))
  const name = { bucket: place.bucket, key: place.key, uploadId: firstElement(created.text, 'UploadId') ?? 'none' }
  const copyOf = (number: number, last: number) =>
    copyPart({ name, number, source: SOURCE, range: [0, last], sourceConditions: {} })
  await world.rest()
  const before = sharesInUse()
  const large = Array.from({ length: GREEDY_COPIES }, (_, index) => copyOf(index + 1, SOURCE_BYTES - 2))
  const begun = world.turns
  const send = (credential: Credential, operation: Operation) => {
    world.host.network.next = { delayTurns: 0, readTurns: 0 }
    return world.sendAs(credential, operation.request)
  }
  const crowd = large.map((operation) => send(ACCOUNTS.greedy, operation))
  await turns(2)
  const small = copyOf(GREEDY_COPIES + 1, 9)
  const sent = world.turns
  const answer = await send(ACCOUNTS.modest, small)
  const waited = world.turns - sent
  const answers = await Promise.all(crowd)
  const all = world.turns - begun
  // Parts of different numbers: the order among them does not matter.
  for (const [index, operation] of [...large, small].entries()) {
    model.settle([{ operation, answer: answers[index] ?? answer }])
  }
  model.tally.count('modest copy', answer)
  if (waited > TURNS_MAXIMUM)
    throw new Error(`a small copy waited for ${waited} turns, and a crowd of copies took ${all}`)
  await world.rest()
  await requireSharesBack(before, 'a crowd of copies')
  await judged(chance, abortUpload(name))
  await judged(chance, deleteObject({ ...SOURCE, bypasses: false }))
  await compare(model, world)
}

function judged({ model, world }: Chance, operation: Operation) {
  return model.carryOut(world, operation, 'copying client')
}

export const copyingCrowdStep = stepByChance('a crowd of copies', copyingCrowd)
