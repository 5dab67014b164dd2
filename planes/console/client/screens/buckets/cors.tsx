import { call } from '../../api/call.ts'
import { Empty, Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { counted } from '../../text/format.ts'
import type { BucketPart } from './bucket-types.ts'

/** CORS rules, read-only: an S3 client sets them. */
export function CorsSection({ bucket: { name } }: BucketPart) {
  const loaded = useLoaded(
    async (signal) => (await call('GET /buckets/{bucket}/cors', { path: { bucket: name } }, signal)).rules,
    [name],
  )
  return (
    <section class="section wide">
      <h2>Pages of other origins (CORS)</h2>
      <Loading of={loaded}>
        {(rules) =>
          rules.length === 0 ? (
            <Empty title="No page of another origin may use this bucket">
              <p class="faint">An S3 client can permit it with PutBucketCors.</p>
            </Empty>
          ) : (
            <ul class="cards">
              {rules.map((rule, index) => (
                <li key={index}>
                  <dl class="facts">
                    <dt>Origins</dt>
                    <dd>
                      <Names of={rule.allowed_origins} />
                    </dd>
                    <dt>Methods</dt>
                    <dd>{rule.allowed_methods.join(', ')}</dd>
                    <dt>Headers they send</dt>
                    <dd>
                      <Names of={rule.allowed_headers} />
                    </dd>
                    <dt>Headers they see</dt>
                    <dd>
                      <Names of={rule.expose_headers} />
                    </dd>
                    <dt>Remembered for</dt>
                    <dd>
                      {rule.max_age_seconds === null ? 'as browsers do' : counted(rule.max_age_seconds, 'second')}
                    </dd>
                  </dl>
                </li>
              ))}
            </ul>
          )
        }
      </Loading>
    </section>
  )
}

function Names({ of: names }: { readonly of: readonly string[] }) {
  if (names.length === 0) return <span class="faint">none</span>
  return (
    <>
      {names.map((name) => (
        <div key={name}>
          <Name of={name} />
        </div>
      ))}
    </>
  )
}
