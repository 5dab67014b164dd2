import { useState } from 'preact/hooks'
import { Choice } from '../parts/field.tsx'

const STORAGE_NAME = 'object-store-theme'
type Theme = 'system' | 'light' | 'dark'

function storedTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_NAME)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

function apply(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
}

apply(storedTheme())

/** Choice of theme: light, dark, or the system's. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme())
  const choose = (chosen: Theme) => {
    setTheme(chosen)
    apply(chosen)
    localStorage.setItem(STORAGE_NAME, chosen)
  }
  return (
    <Choice
      label="Colours"
      value={theme}
      onChange={choose}
      options={[
        ['system', 'As the system'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]}
    />
  )
}
