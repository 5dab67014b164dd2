/** The server of a simulated world: both planes, and in front of them, as in production, the console with shares, and embeds. */
import { CONSOLE_ASSETS_DIRECTORY, readConsoleAssets } from '../../../planes/console/console-assets.ts'
import { createConsoleHandler } from '../../../planes/console/console-handler.ts'
import type { HttpHandler } from '../../../planes/http/exchange.ts'
import { mounted } from '../../../planes/http/mounted-handler.ts'
import { AttemptLimits } from '../../../planes/links/attempt-limits.ts'
import type { ShareServices } from '../../../planes/links/services.ts'
import { ShareTickets } from '../../../planes/links/share-tickets.ts'
import { createEmbedHandler, createShareHandler } from '../../../planes/links/sharing-plane.ts'
import { type ManagedOptions, type ManagedServer, startManaged } from '../../support/management-server.ts'
import type { WireClient } from '../../support/wire-client.ts'

export interface WorldServer extends ManagedServer {
  /** Clients without credentials: of the console with its shares, and of embeds. */
  readonly console: WireClient
  readonly embeds: WireClient
  /** Routes of links that were met, as `{token}` paths. */
  readonly linkRoutes: ReadonlySet<string>
}

const CONSOLE_ASSETS = readConsoleAssets(CONSOLE_ASSETS_DIRECTORY)

export async function startWorldServer(options: ManagedOptions): Promise<WorldServer> {
  const server = await startManaged(options)
  const { ground, gate, failures } = server
  const linkRoutes = new Set<string>()
  const parts = {
    services: servicesOf(server),
    gate,
    telemetry: {
      finished: ({ route }: { readonly route: string | undefined }) => void (route && linkRoutes.add(route)),
      failed: (error: unknown) => void failures.push(error),
      erred: () => undefined,
    },
  }
  const listen = (handler: HttpHandler) =>
    ground.listen({ host: '127.0.0.1', port: 0, handler, onHandlerError: (error) => void failures.push(error) })
  const mounts = [{ path: '/api/v1/', handler: server.apiHandler }]
  const console = await listen(
    mounted(/^\/s\//, createShareHandler(parts), createConsoleHandler({ assets: CONSOLE_ASSETS, mounts })),
  )
  const embeds = await listen(mounted(/^\/e\//, createEmbedHandler(parts), nothing))
  const close = () => Promise.all([console.close(2000), embeds.close(2000)])
  return {
    ...server,
    console: ground.managementClient(console),
    embeds: ground.managementClient(embeds),
    linkRoutes,
    abandon: async () => {
      await close()
      await server.abandon()
    },
    stop: async () => {
      await close()
      await server.stop()
    },
  }
}

function nothing() {
  return { status: 404, headers: [], body: '' }
}

function servicesOf({ session, store }: ManagedServer): ShareServices {
  return {
    engine: store.client,
    catalog: session.catalog,
    payloads: session.payloads,
    tokens: session.capabilityTokens,
    tickets: new ShareTickets(session.ticketKey),
    limits: new AttemptLimits(),
    hashing: session.passwords,
    isEnabled: true,
    expiryClock: session.expiryClock,
  }
}
