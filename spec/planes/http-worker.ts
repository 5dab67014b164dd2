/** A thread with a listener of its own; it answers with its name and ends when told. */
import { parentPort, workerData } from 'node:worker_threads'
import { listenBySpec as listen } from '../support/http-driver.ts'

const { name, port } = workerData as { name: string; port: number }
const listener = await listen({
  host: '127.0.0.1',
  port,
  handler: () => ({ status: 200, headers: [], body: name, close: true }),
})
parentPort?.on('message', () => {
  parentPort?.close()
  void listener.close(1000)
})
parentPort?.postMessage(listener.port)
