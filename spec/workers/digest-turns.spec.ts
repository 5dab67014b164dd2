/** Whose multipart object is hashed next. */
import { test } from 'tap'
import { bucketIdOf, type PayloadId, payloadIdOf } from '../../engine/brands.ts'
import type { QueuedDigest } from '../../projections/tables/digests.ts'
import { DigestTurns } from '../../workers/digests/digest-turns.ts'

/** What waits, as the catalog has it: by class, bucket and age. */
class Waiting {
  readonly #rows: { readonly sizeClass: number; readonly bucketId: number; readonly payload: number }[] = []

  add(sizeClass: number, bucketId: number, payload: number): void {
    this.#rows.push({ sizeClass, bucketId, payload })
    this.#rows.sort((a, b) => a.sizeClass - b.sizeClass || a.bucketId - b.bucketId || a.payload - b.payload)
  }

  remove(payload: number): void {
    this.#rows.splice(
      this.#rows.findIndex((row) => row.payload === payload),
      1,
    )
  }

  firstQueuedDigest(
    sizeClass: number,
    from: number,
    isLeftOut: (payload: PayloadId) => boolean,
  ): QueuedDigest | undefined {
    const found = this.#rows.find(
      (row) => row.sizeClass === sizeClass && row.bucketId >= from && !isLeftOut(payloadIdOf(row.payload)),
    )
    return found && { bucketId: bucketIdOf(found.bucketId), payload: payloadIdOf(found.payload) }
  }
}

function turnsOf(
  waiting: Waiting,
  count: number,
  isLeftOut: (payload: PayloadId, isSmall: boolean) => boolean = () => false,
): number[] {
  const turns = new DigestTurns()
  return Array.from({ length: count }, () => Number(turns.next(waiting, isLeftOut)?.payload ?? 0))
}

test('a small object waits for one step of large ones at most, however many they are', (t) => {
  const waiting = new Waiting()
  for (let bucket = 1; bucket <= 50; bucket += 1) waiting.add(5, bucket, 100 + bucket)
  const turns = new DigestTurns()
  for (let step = 0; step < 7; step += 1) turns.next(waiting, () => false)
  waiting.add(0, 70, 7)
  const next = [turns.next(waiting, () => false)?.payload, turns.next(waiting, () => false)?.payload]
  t.ok(next.includes(payloadIdOf(7)), String(next))
  t.end()
})

test('small objects of one bucket without an end do not keep large ones of another from their turns', (t) => {
  const waiting = new Waiting()
  for (let payload = 1; payload <= 1000; payload += 1) waiting.add(0, 1, payload)
  waiting.add(6, 2, 5000)
  const turns = new DigestTurns()
  let large = 0
  for (let step = 0; step < 400; step += 1) {
    const { payload = payloadIdOf(0) } = turns.next(waiting, () => false) ?? {}
    if (payload === payloadIdOf(5000)) large += 1
    else waiting.remove(payload)
  }
  t.equal(large, 100)
  t.end()
})

test('buckets take turns, and a bucket goes from the oldest of its smallest to its largest', (t) => {
  const waiting = new Waiting()
  for (const [bucket, payload] of [
    [1, 11],
    [1, 12],
    [2, 21],
    [3, 31],
  ] as const)
    waiting.add(2, bucket, payload)
  waiting.add(3, 1, 13)
  t.same(turnsOf(waiting, 8), [11, 11, 21, 21, 31, 31, 11, 11])
  waiting.remove(11)
  waiting.remove(12)
  t.same(turnsOf(waiting, 6), [21, 13, 31, 21, 21, 31])
  t.end()
})

test('what is left out has no turn, and nothing waits when all is left out', (t) => {
  const waiting = new Waiting()
  waiting.add(0, 1, 11)
  waiting.add(4, 2, 21)
  t.same(
    turnsOf(waiting, 2, (payload) => payload === payloadIdOf(11)),
    [21, 21],
  )
  t.same(
    turnsOf(waiting, 2, (_, isSmall) => !isSmall),
    [11, 11],
  )
  t.same(
    turnsOf(waiting, 2, () => true),
    [0, 0],
  )
  t.end()
})
