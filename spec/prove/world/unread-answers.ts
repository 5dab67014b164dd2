/** A greedy client that asks for long documents and reads none of them, where little memory is left for such answers. */
import type { Place } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import type { Operation } from '../../model/expectation.ts'
import { deleteObject } from '../../model/operations/deletions.ts'
import { listObjects } from '../../model/operations/list-objects.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { ACCOUNTS, type Comer, turns } from './crowd.ts'
import { holdAllBut, requireSharesBack, sharesInUse } from './shares-in-use.ts'
import { type Chance, stepByChance } from './step-by-chance.ts'
import type { WorldStore } from './world-store.ts'

const BUCKET = 'plain'
/** Long names in letters that an answer has three times as long: a list of them has more than is sent at once (16 KiB). */
const PREFIX = '\u4e2d'.repeat(330)
const KEYS: readonly Place[] = [1, 2, 3, 4, 5, 6, 7].map((number) => ({ bucket: BUCKET, key: `${PREFIX}${number}` }))
const DOCUMENT_BYTES_MAXIMUM = 32 * 1024
const DOCUMENTS = 4
const GREEDY_REQUESTS = 12
/** In these the greedy client has what it gets. */
const GREEDY_TURNS = 20
/** What refuses a target as long as this says no more of it than fits (spec/manual/errors.md). */
const LONG_TARGET = `/${BUCKET}/${'&'.repeat(6000)}`
const REFUSAL_BYTES_MAXIMUM = 8 * 1024

/** A modest client gets its document all the same, and where there is no memory at all a refusal still fits. */
async function unreadAnswers(chance: Chance): Promise<void> {
  const { model, world, random } = chance
  const before = await prepared(chance)
  const giveBack = holdAllBut(DOCUMENTS * DOCUMENT_BYTES_MAXIMUM, 'held-answers')
  const operation = listObjects({ bucket: BUCKET, prefix: PREFIX, delimiter: '', maxKeys: 100, position: undefined })
  const { target } = operation.request
  const crowd = Array.from({ length: GREEDY_REQUESTS }, () => ask(world, 'greedy', target, true))
  await turns(GREEDY_TURNS)
  const answer = await ask(world, random.of(['modest', 'root']), target)
  const takeBack = holdAllBut(0, 'held-answers')
  const refusal = await ask(world, 'root', LONG_TARGET)
  const { length } = refusal?.text ?? ''
  if (refusal === undefined || refusal.status < 400 || length > REFUSAL_BYTES_MAXIMUM) {
    throw new Error(`a long target is answered ${refusal?.status} with ${length} bytes`)
  }
  takeBack()
  giveBack()
  await Promise.all(crowd)
  model.tally.count('modest client beside unread answers', answer)
  if (answer === undefined) throw new Error('a client that reads gets no answer, beside one that does not')
  model.settle([{ operation, answer }])
  await world.rest()
  await requireSharesBack(before, 'unread answers')
  for (const place of KEYS) await judged(chance, deleteObject({ ...place, bypasses: false }))
  await compare(model, world)
}

/** Writes the objects with long names. */
async function prepared(chance: Chance): Promise<ReturnType<typeof sharesInUse>> {
  chance.model.log.push('a greedy client reads no answers')
  for (const place of KEYS) {
    const request = { ...place, content: contentOf(1, 1), headers: [], lock: {}, condition: UNCONDITIONAL }
    await judged(chance, putObject(request))
  }
  await chance.world.rest()
  return sharesInUse()
}

/** @returns what a client that reads is answered */
async function ask(world: WorldStore, comer: Comer | 'greedy', target: string, isUnread = false) {
  const { server, now, host } = world
  const { accessKey, secretKey } = comer === 'root' ? server : ACCOUNTS[comer]
  host.network.next = isUnread ? { readTurns: undefined, delayTurns: 0 } : { readTurns: 0 }
  const answer = await server.raw('GET', target, { sign: { accessKey, secretKey, now } }).catch(() => undefined)
  return answer?.complete === true ? answer : undefined
}

function judged({ model, world }: Chance, operation: Operation) {
  return model.carryOut(world, operation, 'long name')
}

export const unreadAnswersStep = stepByChance('unread answers', unreadAnswers)
