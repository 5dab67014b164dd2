import { compareServers } from '../compared-servers.ts'
import type { Scenario } from '../scenario.ts'

const COMPARISON = { scenario: 'encryption', states: ['off', 'on'], over: 'with encryption over that without' } as const

export const encryption: Scenario = {
  name: 'encryption',
  title: 'What encryption at rest costs: two servers side by side, one of which encrypts',
  needs: 'own server',
  run: (bench) =>
    bench.withTarget((plain) =>
      bench.withTarget(
        (sealed) => compareServers(bench, COMPARISON, plain, sealed),
        ['storage.encryption_enabled=true'],
      ),
    ),
}
