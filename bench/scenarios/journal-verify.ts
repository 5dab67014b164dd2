import type { Scenario } from '../scenario.ts'
import { numberIn, runStoreCommand } from '../store-command.ts'

export const journalVerify: Scenario = {
  name: 'journal-verify',
  title: 'object-store journal verify, on the journal of the large store',
  needs: 'own server',
  async run(bench) {
    await bench.filled.fillTo(bench.settings.objects)
    const { report, outcome } = await runStoreCommand(bench, ['journal', 'verify'])
    if (report['intact'] !== true) throw new Error('the journal is not intact')
    const records = numberIn(report, 'records')
    bench.add({
      name: 'journal-verify',
      label: 'Records verified',
      value: records / outcome.seconds,
      unit: 'per second',
      note: `${records.toLocaleString('en')} records in ${outcome.seconds.toFixed(1)} s, the start of the process included`,
    })
  },
}
