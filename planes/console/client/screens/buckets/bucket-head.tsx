import { hrefOf } from '../../app/address.ts'
import { Name } from '../../parts/name.tsx'
import { Tabs } from '../../parts/tabs.tsx'

/** The name of a bucket, and the links between its screens. */
export function BucketHead({ name, current }: { readonly name: string; readonly current: 'objects' | 'settings' }) {
  return (
    <header class="bucket-head">
      <p class="crumb">
        <a href={hrefOf(['buckets'])}>Buckets</a> /
      </p>
      <h1>
        <Name of={name} />
      </h1>
      <Tabs
        label="Screens of the bucket"
        tabs={[
          { href: hrefOf(['buckets', name, 'objects']), text: 'Objects', current: current === 'objects' },
          { href: hrefOf(['buckets', name]), text: 'Settings', current: current === 'settings' },
        ]}
      />
    </header>
  )
}
