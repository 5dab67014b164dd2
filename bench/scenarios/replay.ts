import type { Scenario } from '../scenario.ts'
import { numberIn, runStoreCommand } from '../store-command.ts'

export const replay: Scenario = {
  name: 'replay',
  title: 'object-store projections rebuild, from the journal of the large store',
  needs: 'own server',
  async run(bench) {
    await bench.filled.fillTo(bench.settings.objects)
    const { report } = await runStoreCommand(bench, ['projections', 'rebuild'])
    const records = numberIn(report, 'records')
    const seconds = numberIn(report, 'seconds')
    bench.add({
      name: 'replay',
      label: 'Records replayed',
      value: records / seconds,
      unit: 'per second',
      note: `${records.toLocaleString('en')} records in ${seconds.toFixed(1)} s, the sync at the end included`,
    })
  },
}
