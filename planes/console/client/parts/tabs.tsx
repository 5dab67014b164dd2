interface Tab {
  readonly href: string
  readonly text: string
  readonly current: boolean
}

/** Links between the screens of one thing. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, text, current }) => (
        <a href={href} key={href} aria-current={current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
