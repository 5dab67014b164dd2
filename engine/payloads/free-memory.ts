import { MessageChannel } from 'node:worker_threads'

/** A port whose other end is closed: memory transferred to it is freed. */
const nowhere = new MessageChannel()
nowhere.port2.close()

/**
 * Frees the memory of a cipher's result at once; its length is 0 afterwards.
 *
 * Node's ciphers allocate every result outside the heap, and V8 marks the whole heap each time about 64 MiB of such memory
 * were allocated. That doubled the time to read large encrypted objects, and there is no other way to free memory before
 * the garbage collector does. Memory that is shared, as in Node's buffer pool, is left alone.
 */
export function freeMemory(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) nowhere.port1.postMessage(undefined, [buffer])
}
