import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { Loading } from '../../parts/loading.tsx'
import { say } from '../../parts/status.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { BucketHead } from './bucket-head.tsx'
import type { Bucket, BucketPart } from './bucket-types.ts'
import { CorsSection } from './cors.tsx'
import { LifecycleSection } from './lifecycle.tsx'
import { QuotaSection } from './quota.tsx'
import { RetentionSection } from './retention.tsx'
import { UsageSection } from './usage.tsx'
import { VersioningSection } from './versioning.tsx'

/** The settings of one bucket. */
export function BucketScreen({ values: { bucket: name = '' } }: ScreenProps) {
  const loaded = useLoaded<Bucket>(
    (signal) => call('GET /buckets/{bucket}', { path: { bucket: name } }, signal),
    [name],
  )
  return (
    <div class="screen">
      <BucketHead name={name} current="settings" />
      <Loading of={loaded}>{(bucket) => <Settings bucket={bucket} changed={loaded.reload} />}</Loading>
    </div>
  )
}

function Settings(part: BucketPart) {
  return (
    <div class="sections">
      <UsageSection {...part} />
      <QuotaSection {...part} />
      <VersioningSection {...part} />
      <RetentionSection {...part} />
      <LifecycleSection {...part} />
      <CorsSection {...part} />
      {may(ADMINISTRATORS) ? <DeleteSection {...part} /> : null}
    </div>
  )
}

function DeleteSection({ bucket: { name } }: BucketPart) {
  const [asking, setAsking] = useState(false)
  const remove = async () => {
    await call('DELETE /buckets/{bucket}', { path: { bucket: name } })
    say(`Bucket ${name} was deleted.`)
    go(hrefOf(['buckets']))
  }
  return (
    <section class="section">
      <h2>Delete</h2>
      <p class="faint">Only an empty bucket can be deleted: without objects, versions, delete markers and uploads.</p>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete this bucket
      </button>
      {asking ? (
        <ConfirmByName
          title="Delete a bucket"
          verb="Delete"
          name={name}
          onClose={() => setAsking(false)}
          onConfirm={remove}
        >
          <p>Its settings, rules and links are gone with it. The journal keeps what happened.</p>
        </ConfirmByName>
      ) : null}
    </section>
  )
}
