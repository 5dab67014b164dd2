/** Stores that are broken on purpose: what the proof `disk` must find. */
import type { Breakage } from '../disk/breakage.ts'
import {
  acknowledgingFirst,
  carelessOfLength,
  FILES,
  payloadsLast,
  tryingAgain,
  withoutNames,
  withoutSync,
} from './broken-disks.ts'
import { cutOneMore, deafToNote, withoutNote, withoutSyncOfNote } from './broken-notes.ts'
import { commitRowsAnyway, giveOutDamage, trimJournal } from './broken-engine.ts'
import { expireUnguarded } from './broken-workers.ts'

export const MUTANTS: readonly Breakage[] = [
  { name: 'does not sync the journal', wrap: (disk) => withoutSync(disk, FILES.journal) },
  { name: 'does not sync small payloads', wrap: (disk) => withoutSync(disk, FILES.volumes) },
  { name: 'does not sync large payloads', wrap: (disk) => withoutSync(disk, FILES.uploads) },
  { name: 'does not sync names of segments', wrap: (disk) => withoutNames(disk, /\/journal$/) },
  { name: 'does not sync names of volumes', wrap: (disk) => withoutNames(disk, /\/volumes$/) },
  { name: 'does not sync names of payload files', wrap: (disk) => withoutNames(disk, /\/payloads\/files\//) },
  { name: 'acknowledges before the sync', wrap: acknowledgingFirst },
  { name: 'syncs payloads after the journal', wrap: payloadsLast },
  { name: 'tries a failed sync again', wrap: tryingAgain },
  { name: 'does not look at short writes', wrap: carelessOfLength },
  { name: 'trims the journal on any error', beforeOpening: trimJournal },
  { name: 'lets projections run ahead of the journal', install: commitRowsAnyway },
  { name: 'does not note that a batch was refused', wrap: withoutNote },
  { name: 'does not sync the note of a refused batch', wrap: withoutSyncOfNote },
  { name: 'does not read the note of a refused batch', wrap: deafToNote },
  { name: 'cuts off more than the refused batch', beforeOpening: cutOneMore },
  { name: 'gives out damaged payloads', install: giveOutDamage },
  { name: 'removes by age without asking the guard', install: expireUnguarded },
]
