import { useEffect, useRef } from 'preact/hooks'
import { end, may, session } from '../api/session.ts'
import { isFocusAstray } from '../parts/keep-focus.ts'
import { Name } from '../parts/name.tsx'
import { Empty } from '../parts/loading.tsx'
import { UploadPanel } from '../screens/objects/uploads/upload-panel.tsx'
import { hrefOf, matchRoute } from './address.ts'
import { route } from './router.ts'
import { type Screen, screens } from './screens.ts'
import { ThemeChoice } from './theme.tsx'

const ROLE_NAMES = {
  'system-administrator': 'System administrator',
  'storage-administrator': 'Storage administrator',
  auditor: 'Auditor',
} as const

/** The navigation and the screen that the address names. */
export function Shell() {
  const found = screenOf()
  const main = useRef<HTMLElement>(null)
  const title = found?.screen.title ?? 'Not found'
  useEffect(() => {
    document.title = `${title} · Object Store`
  }, [title])
  const place = found === undefined ? '' : `${found.screen.pattern} ${JSON.stringify(found.values)}`
  useEffect(() => {
    // The followed link is gone with the previous screen; keyboard users continue at the new one.
    if (isFocusAstray()) main.current?.focus()
  }, [place])
  const skip = () => main.current?.focus()
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <Side current={found?.screen} />
      <main ref={main} tabIndex={-1}>
        {found === undefined ? <NoScreen /> : <View {...found} />}
        <UploadPanel />
      </main>
    </div>
  )
}

interface FoundScreen {
  readonly screen: Screen
  readonly values: Readonly<Record<string, string>>
}

/** The screen that the address names; the first one for no address. */
function screenOf(): FoundScreen | undefined {
  const permitted = screens.filter(({ roles }) => may(roles))
  const first = permitted[0]
  if (route.value.segments.length === 0) return first && { screen: first, values: {} }
  for (const screen of permitted) {
    const values = matchRoute(screen.pattern, route.value)
    if (values !== undefined) return { screen, values }
  }
  return undefined
}

/** The `key` gives a screen with other values a new state. */
function View({ screen, values }: FoundScreen) {
  const { view: ScreenView, pattern } = screen
  return <ScreenView key={`${pattern} ${JSON.stringify(values)}`} values={values} query={route.value.query} />
}

function Side({ current }: { readonly current: Screen | undefined }) {
  const linked = screens.filter(({ inMenu, roles }) => inMenu && may(roles))
  return (
    <header class="side">
      <p class="brand">Object Store</p>
      <nav aria-label="Sections">
        {linked.map(({ pattern, title }) => (
          <a
            href={hrefOf(pattern.split('/'))}
            key={pattern}
            aria-current={current !== undefined && section(current.pattern) === section(pattern) ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="who">
        <ThemeChoice />
        <p class="faint">
          {session.value === undefined ? null : ROLE_NAMES[session.value.role]}
          <br />
          {session.value === undefined ? null : <Name of={session.value.name ?? session.value.credentialId} />}
        </p>
        <button type="button" onClick={end}>
          Sign out
        </button>
      </div>
    </header>
  )
}

/** First segment of a pattern. Screens with the same one share a link in the menu. */
function section(pattern: string): string | undefined {
  return pattern.split('/')[0]
}

function NoScreen() {
  return (
    <Empty>
      <h1>Page not found</h1>
      <p>
        The address is wrong, or your role may not see the page. <a href={hrefOf([])}>Go to the start page.</a>
      </p>
    </Empty>
  )
}
