import { compareServers } from '../compared-servers.ts'
import type { Scenario } from '../scenario.ts'

const COMPARISON = {
  scenario: 'http-driver',
  states: ['uws', 'node'],
  over: 'over node:http over that over uws',
} as const

export const httpDrivers: Scenario = {
  name: 'http-drivers',
  title: 'What the HTTP of Node costs: two servers side by side, one of which does without uWebSockets.js',
  needs: 'own server',
  run: (bench) =>
    bench.withTarget(
      (uws) => bench.withTarget((node) => compareServers(bench, COMPARISON, uws, node), ['server.http_driver=node']),
      ['server.http_driver=uws'],
    ),
}
