import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { ClientLedger } from '../../support/dying-servers/client-ledger.ts'
import { write } from '../../support/commands.ts'
import { OTHER_BOOT_ID } from '../../support/test-store.ts'
import { type Breakage, UNBROKEN } from '../disk/breakage.ts'
import { examine, type Findings } from './aftermath.ts'
import type { Target } from './faults.ts'
import { Injector } from './injector.ts'
import { bootOf, type KindOfWork } from './kinds-of-work.ts'
import { Life } from './life.ts'

/** Where every trial of a kind of work begins. */
export interface Beginning {
  /** A data directory; undefined for a store that is still to be made. */
  readonly root: string | undefined
  readonly ledger: ClientLedger
}

export interface Trial extends Findings {
  readonly injected: number
  /** Operations of the work, in words. */
  readonly operations: readonly string[]
}

/** No work takes so long, on whatever machine: it hangs. What it damages is only put back at its end. */
const ANSWER_MILLISECONDS = 300_000
const PROBE = write('kept', 'probe', Buffer.from('probe'))

/** Does a kind of work on a copy of its beginning, with one fault or without any, and looks at what is left. */
export async function tryWork(
  kind: KindOfWork,
  beginning: Beginning,
  root: string,
  target: Target | undefined,
  breakage: Breakage = UNBROKEN,
): Promise<Trial> {
  rmSync(root, { recursive: true, force: true })
  if (beginning.root === undefined) mkdirSync(root)
  else cpSync(beginning.root, root, { recursive: true })
  const ledger = beginning.ledger.copy()
  ledger.now += kind.later ?? 0
  const life = new Life(root, ledger, bootOf(kind), breakage)
  const injector = new Injector(root, target, (path) => life.forgetful.lose(path))
  const wrong: string[] = []
  if (kind.ready !== undefined) {
    await (kind.withoutSpares ? life.openWithoutSpares() : life.open())
    await kind.ready(life)
    await life.disk.idle()
  }
  injector.arm(life.disk)
  await answered(life, kind, wrong)
  await life.disk.idle()
  injector.disarm(life.disk)
  if (life.isOpen) await life.send(PROBE).catch((error: unknown) => life.told(error))
  await endOfProcess(life, wrong)
  life.forgetful.forgetLost()
  if (target === undefined && life.failures.length > 0) wrong.push(`without a fault: ${String(life.failures[0])}`)
  if (injector.mustBeTold && life.failures.length === 0) wrong.push('nobody was told')
  // A fault that happens once leaves the mark to be written: then the store can say what became of everything. Rows are
  // committed when their journal is written: then it cannot.
  const isOnce = target !== undefined && !target.lasts && !/journal\/HEAD$|^commit-rows/.test(target.operation)
  if (isOnce && life.ledger.unknown > 0) wrong.push('the outcome was unknown, although the mark could be written')
  for (const touched of injector.touchedAgain) wrong.push(`J7: ${touched} behind a failed sync`)
  // Every other time the host went down with the process, and the projections are not trusted.
  const bootId = (target?.occurrence ?? 0) % 2 === 0 ? OTHER_BOOT_ID : bootOf(kind)
  wrong.push(...life.wrong)
  const after = await examine(life, bootId)
  const { injected, operations } = injector
  return { injected, operations, lost: after.lost, wrong: [...wrong, ...after.wrong] }
}

async function answered(life: Life, kind: KindOfWork, wrong: string[]): Promise<void> {
  const timer = new AbortController()
  const late = setTimeout(ANSWER_MILLISECONDS, 'late', { signal: timer.signal }).catch(() => undefined)
  const work = async () => void (await kind.work(life))
  const done = work().catch((error: unknown) => life.told(error))
  if ((await Promise.race([done, late])) === 'late') wrong.push('it was never answered')
  timer.abort()
}

/** Closes what is open, by force; on a healthy disk. */
async function endOfProcess(life: Life, wrong: string[]): Promise<void> {
  if (!life.isOpen) return
  try {
    await life.end('killed')
  } catch (error) {
    wrong.push(`it cannot be closed: ${String(error)}`)
  }
}
