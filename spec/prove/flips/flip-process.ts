/** Tries flips, one for each number that it is sent. A process of its own, since LMDB may end it on a damaged file. */
import '../../../cli/environment.ts'
import { join } from 'node:path'
import { Random } from '../../support/random.ts'
import { chooseFlip, flippableFiles, type Flip, MOMENTS } from './flip.ts'
import { type Judgement, Trial } from './trial.ts'
import { imagesIn } from './whole-store.ts'

/** `again`: the process before this one ended in it. */
export interface FlipOrder {
  readonly number: number
  readonly again: boolean
}

export interface FlipReport {
  readonly flip: Flip
  readonly judgement: Judgement
}

const [images = '', directory = ''] = process.argv.slice(2)
const known = imagesIn(images)
const filesOf = { stopped: flippableFiles(known.stopped), killed: flippableFiles(known.killed) }

async function tried({ number, again }: FlipOrder): Promise<FlipReport> {
  const random = new Random(number)
  const moment = random.of(MOMENTS)
  const files = moment === 'stopped' || moment === 'running' ? filesOf.stopped : filesOf.killed
  const flip = chooseFlip(files, moment, random)
  const trial = new Trial(known, join(directory, 'store'), flip, number)
  return { flip, judgement: await (again ? trial.goOn() : trial.run()) }
}

// The proof has ended, in order or not.
process.on('disconnect', () => process.exit())
process.on('message', (order: FlipOrder) => {
  void tried(order).then((report) => process.send?.(report))
})
