import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../../../engine/thread-priority.ts'
import { answerTo, type DocumentJob } from './document-readers.ts'

/** The thread that reads big documents for one front end, one at a time. A fault of a reader ends it. */

const frontEnd = parentPort
if (frontEnd === null) throw new Error('the thread that reads documents must be started by a front end')

/** On the scale of nice(2), so that a front end gets a processor before this thread does. */
const NICE = 5
lowerPriority(NICE)

frontEnd.on('message', (job: DocumentJob) => frontEnd.postMessage(answerTo(job)))
