import type { Scenario } from './scenario.ts'
import { audit } from './scenarios/audit.ts'
import { capacity } from './scenarios/capacity.ts'
import { coldJournal } from './scenarios/cold-journal.ts'
import { compaction } from './scenarios/compaction.ts'
import { deleteObjects } from './scenarios/delete.ts'
import { deleteInBatches } from './scenarios/delete-objects.ts'
import { encryption } from './scenarios/encryption.ts'
import { events } from './scenarios/events.ts'
import { flood } from './scenarios/flood.ts'
import { get1Mib } from './scenarios/get-1-mib.ts'
import { get4Kib } from './scenarios/get-4-kib.ts'
import { get64Mib } from './scenarios/get-64-mib.ts'
import { getBesideUploads } from './scenarios/get-beside-uploads.ts'
import { httpDrivers } from './scenarios/http-drivers.ts'
import { journalVerify } from './scenarios/journal-verify.ts'
import { lifecycle } from './scenarios/lifecycle.ts'
import { list1000 } from './scenarios/list-1000.ts'
import { listParts } from './scenarios/list-parts.ts'
import { listVersions1000 } from './scenarios/list-versions-1000.ts'
import { managementTransfers } from './scenarios/management-transfers.ts'
import { memory } from './scenarios/memory.ts'
import { mixed } from './scenarios/mixed.ts'
import { multipartComplete } from './scenarios/multipart-complete.ts'
import { multipartUpload } from './scenarios/multipart-upload.ts'
import { policies } from './scenarios/policies.ts'
import { put1Mib } from './scenarios/put-1-mib.ts'
import { put4Kib } from './scenarios/put-4-kib.ts'
import { put64Mib } from './scenarios/put-64-mib.ts'
import { replay } from './scenarios/replay.ts'
import { scale } from './scenarios/scale.ts'
import { shareDelivery } from './scenarios/share-delivery.ts'
import { signedChunks } from './scenarios/signed-chunks.ts'
import { startUp } from './scenarios/start-up.ts'
import { tls } from './scenarios/tls.ts'
import { trees } from './scenarios/trees.ts'
import { transfers } from './scenarios/transfers.ts'
import { versionedOverwrite } from './scenarios/versioned-overwrite.ts'
import { webhooks } from './scenarios/webhooks.ts'

/** In the order they run. `scale` comes before all others that need many objects: it watches the store grow. */
export const scenarioList: readonly Scenario[] = [
  put4Kib,
  get4Kib,
  capacity,
  mixed,
  deleteObjects,
  deleteInBatches,
  list1000,
  versionedOverwrite,
  listVersions1000,
  put1Mib,
  get1Mib,
  put64Mib,
  get64Mib,
  multipartUpload,
  multipartComplete,
  listParts,
  encryption,
  signedChunks,
  policies,
  flood,
  managementTransfers,
  shareDelivery,
  tls,
  httpDrivers,
  audit,
  compaction,
  lifecycle,
  webhooks,
  transfers,
  getBesideUploads,
  scale,
  memory,
  events,
  startUp,
  journalVerify,
  replay,
  trees,
  coldJournal,
]
