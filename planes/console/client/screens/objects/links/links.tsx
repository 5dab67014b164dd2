import { useState } from 'preact/hooks'
import { type Answer, call } from '../../../api/call.ts'
import { ADMINISTRATORS, may } from '../../../api/session.ts'
import { FormDialog } from '../../../parts/form-dialog.tsx'
import { Empty, Loading } from '../../../parts/loading.tsx'
import { Name } from '../../../parts/name.tsx'
import { say } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import { useLoaded } from '../../../parts/use-loaded.ts'
import { formatCount } from '../../../text/format.ts'
import { ChangeEmbed, CreateEmbed } from './create-embed.tsx'
import { CreateShare } from './create-share.tsx'
import { ShowAddress } from './link-address.tsx'

type Share = Answer<'GET /shares/{id}'>
type Embed = Answer<'GET /embeds/{id}'>
type Link = { readonly kind: 'share'; readonly of: Share } | { readonly kind: 'embed'; readonly of: Embed }

/** Maximum number of links shown, newest first. */
const LINKS_MAXIMUM = 100

interface LinksProps {
  readonly bucket: string
  readonly objectKey: string
}

/** The public links to an object: shares are downloaded by people, embeds are shown by pages. */
export function Links({ bucket, objectKey: key }: LinksProps) {
  const [making, setMaking] = useState<'share' | 'embed'>()
  const loaded = useLoaded(
    async (signal): Promise<readonly Link[]> => {
      const sent = { path: { bucket, key }, query: { limit: LINKS_MAXIMUM } }
      const { shares } = await call('GET /buckets/{bucket}/object-shares/{key}', sent, signal)
      const { embeds } = await call('GET /buckets/{bucket}/object-embeds/{key}', sent, signal)
      return [
        ...shares.map((of) => ({ kind: 'share', of }) as const),
        ...embeds.map((of) => ({ kind: 'embed', of }) as const),
      ]
    },
    [bucket, key],
  )
  const close = () => setMaking(undefined)
  const target = { bucket, objectKey: key, changed: loaded.reload, onClose: close }
  return (
    <section>
      <h3>Public links</h3>
      <Loading of={loaded}>
        {(links) =>
          links.length === 0 ? (
            <Empty title="Nobody has a link to this" />
          ) : (
            <ul class="versions">
              {links.map((link) => (
                <LinkRow link={link} changed={loaded.reload} key={link.of.id} />
              ))}
            </ul>
          )
        }
      </Loading>
      {may(ADMINISTRATORS) ? (
        <p class="actions">
          <button type="button" onClick={() => setMaking('share')}>
            Share
          </button>
          <button type="button" onClick={() => setMaking('embed')}>
            Embed
          </button>
        </p>
      ) : null}
      {making === 'share' ? <CreateShare {...target} /> : null}
      {making === 'embed' ? <CreateEmbed {...target} /> : null}
    </section>
  )
}

function LinkRow({ link, changed }: { readonly link: Link; readonly changed: () => void }) {
  const { id, status, expires_at, version_id } = link.of
  return (
    <li>
      <p>
        <strong>{link.kind === 'share' ? 'Share' : 'Embed'}</strong>{' '}
        <span class={status === 'active' ? 'badge good' : 'badge bad'}>{status.replace('_', ' ')}</span>
      </p>
      <p class="faint">
        {link.kind === 'share' ? <ShareFacts share={link.of} /> : <EmbedFacts embed={link.of} />}{' '}
        {expires_at === null ? (
          'It does not expire.'
        ) : (
          <>
            Until <Time at={expires_at} />.
          </>
        )}{' '}
        {version_id === null ? 'It follows the current version.' : null} <code>{id}</code>
      </p>
      {may(ADMINISTRATORS) ? <LinkActions link={link} changed={changed} /> : null}
    </li>
  )
}

function ShareFacts({ share }: { readonly share: Share }) {
  const { downloads, maximum_downloads: most, password_protected } = share
  return (
    <>
      {password_protected ? 'With a password. ' : ''}
      {most === null ? '' : `Downloaded ${formatCount(downloads ?? 0)} of ${formatCount(most)} times. `}
    </>
  )
}

function EmbedFacts({ embed }: { readonly embed: Embed }) {
  return (
    <>
      For{' '}
      {embed.allowed_origins.map((origin) => (
        <span key={origin}>
          <Name of={origin} />{' '}
        </span>
      ))}
    </>
  )
}

function LinkActions({ link, changed }: { readonly link: Link; readonly changed: () => void }) {
  const [asking, setAsking] = useState<'address' | 'change' | 'revoke' | 'delete'>()
  const close = () => setAsking(undefined)
  const path = { id: link.of.id }
  const isShare = link.kind === 'share'
  const revoke = async () => {
    await (isShare ? call('POST /shares/{id}/revoke', { path }) : call('POST /embeds/{id}/revoke', { path }))
    say('The link was revoked.')
    changed()
    close()
  }
  const remove = async () => {
    await (isShare ? call('DELETE /shares/{id}', { path }) : call('DELETE /embeds/{id}', { path }))
    say('The link was deleted.')
    changed()
  }
  return (
    <p class="actions">
      {link.of.status === 'active' ? (
        <>
          <button type="button" onClick={() => setAsking('address')}>
            Show the address
          </button>
          {isShare ? null : (
            <button type="button" onClick={() => setAsking('change')}>
              Change
            </button>
          )}
          <button type="button" class="danger" onClick={() => setAsking('revoke')}>
            Revoke
          </button>
        </>
      ) : (
        <button
          type="button"
          class="danger"
          aria-label={`Delete the link ${link.of.id}`}
          onClick={() => setAsking('delete')}
        >
          Delete
        </button>
      )}
      {asking === 'address' ? <ShowAddress kind={link.kind} id={link.of.id} onClose={close} /> : null}
      {asking === 'change' && link.kind === 'embed' ? (
        <ChangeEmbed embed={link.of} changed={changed} onClose={close} />
      ) : null}
      {asking === 'revoke' ? (
        <FormDialog title="Revoke a link" verb="Revoke" dangerous onClose={close} onSubmit={revoke}>
          <p>From now on it opens nothing, for ever. It stays in the list.</p>
        </FormDialog>
      ) : null}
      {asking === 'delete' ? (
        <FormDialog title="Delete a link" verb="Delete" dangerous onClose={close} onSubmit={remove}>
          <p>It leaves the list. The journal keeps what happened.</p>
        </FormDialog>
      ) : null}
    </p>
  )
}
