import { MessageChannel } from 'node:worker_threads'

/** A port whose other end is closed: what is moved into a message to it is dropped. */
const nowhere = new MessageChannel()
nowhere.port2.close()

/**
 * Gives the memory of bytes that a cipher made back at once; they have no length afterwards.
 *
 * The platform's ciphers put every result into new memory outside the heap, and V8 marks the whole heap each time some
 * 64 MiB of such memory were made, in several threads. Reading large encrypted objects took twice as long for it as it
 * does without, and there is no other way to let go of memory before the collector comes. Memory that the bytes share
 * with others, as those from the platform's pool do, is left alone.
 */
export function freeMemory(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) nowhere.port1.postMessage(undefined, [buffer])
}
