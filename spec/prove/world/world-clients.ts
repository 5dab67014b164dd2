/** Clients of a simulated world: requests as every client signs them, sent through its network. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { ACCESS_KEY, type Clients, SECRET_KEY } from '../../support/test-clients.ts'
import { WireClient, type WireAnswer } from '../../support/wire-client.ts'
import type { MemoryNetwork } from './memory-network.ts'

class MemoryWireClient extends WireClient {
  readonly #network: MemoryNetwork
  readonly #port: number

  constructor(network: MemoryNetwork, port: number, accessKey: string, secretKey: string) {
    super({ endpoint: endpointOf(port), accessKey, secretKey })
    this.#network = network
    this.#port = port
  }

  override exchange(method: string, target: string, headers: readonly HeaderLine[], body: Buffer): Promise<WireAnswer> {
    return this.#network.exchange(this.#port, { method, target, headers }, body)
  }
}

function endpointOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** Signs as root. */
class WorldClients implements Clients {
  readonly endpoint: string
  readonly port: number
  readonly accessKey = ACCESS_KEY
  readonly secretKey = SECRET_KEY
  readonly wire: WireClient
  readonly raw: Clients['raw']

  constructor(network: MemoryNetwork, port: number) {
    this.endpoint = endpointOf(port)
    this.port = port
    this.wire = new MemoryWireClient(network, port, ACCESS_KEY, SECRET_KEY)
    this.raw = this.wire.send.bind(this.wire)
  }

  get s3(): Clients['s3'] {
    throw new Error('the SDK speaks through sockets, and a world has none')
  }
}

export function worldClients(network: MemoryNetwork, port: number): Clients {
  return new WorldClients(network, port)
}

/** Signs nothing. */
export function worldManagementClient(network: MemoryNetwork, port: number): WireClient {
  return new MemoryWireClient(network, port, '', '')
}
