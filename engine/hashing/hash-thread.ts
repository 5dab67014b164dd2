import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { HashReply, HashRequest, HashThreadData, ToHashThread } from './hash-messages.ts'
import { READERS_BYTES } from './hash-messages.ts'
import { lowerPriority } from '../thread-priority.ts'
import { Md5Hashing } from './md5-hashing.ts'
import { type Hashing, Sha256Hashing } from './sha256-hashing.ts'

/** A thread that hashes. It waits for nothing but messages, and serves the bodies of all threads. */

const main = parentPort
if (main === null) throw new Error('a thread that hashes must be started by the server')
const { kind } = workerData as HashThreadData

/** Of the scheduler: a front end that has something to do does not wait until this thread sleeps. */
const NICE = 5
lowerPriority(NICE)

/** Serves one other thread. */
function serve<Body>(port: MessagePort, hashing: Hashing<Body>): void {
  const bodies = new Map<number, Body>()
  const pieces = new Map<number, SharedArrayBuffer>()
  const reply = (message: HashReply) => port.postMessage(message)
  const bodyOf = (number: number): Body => {
    const known = bodies.get(number)
    if (known !== undefined) return known
    const body = hashing.begin()
    bodies.set(number, body)
    return body
  }
  const update = ({ body, job, piece, length, memory }: Extract<HashRequest, { kind: 'update' }>): void => {
    if (memory !== undefined) pieces.set(piece, memory)
    const bytes = pieces.get(piece) as SharedArrayBuffer
    const readers = new Int32Array(bytes, bytes.byteLength - READERS_BYTES, 1)
    hashing.update(bodyOf(body), new Uint8Array(bytes, 0, length), () => {
      if (Atomics.sub(readers, 0, 1) !== 1) return
      Atomics.notify(readers, 0)
      reply({ kind: 'taken', job })
    })
  }
  port.on('message', (message: HashRequest) => {
    switch (message.kind) {
      case 'update':
        update(message)
        return
      case 'digest':
        hashing.digest(bodyOf(message.body), (digest) => reply({ kind: 'digest', body: message.body, digest }))
        bodies.delete(message.body)
        return
      case 'drop':
        bodies.delete(message.body)
        return
      case 'forget':
        pieces.delete(message.piece)
    }
  })
}

const attach: (port: MessagePort) => void = (() => {
  if (kind === 'md5') {
    const hashing = new Md5Hashing()
    return (port) => serve(port, hashing)
  }
  const hashing = new Sha256Hashing()
  return (port) => serve(port, hashing)
})()

main.on('message', (message: ToHashThread) => attach(message.attach))
