/** The style of the pages of shares: one column, readable at 320 px, in the reader's colour scheme. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --sheet: #ffffff; --ink: #1b1f24; --quiet: #4f5965; --line: #c9d0d8;
  --accent: #0b57b0; --on-accent: #ffffff; --wrong: #a8201a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --sheet: #1d2126; --ink: #e8ebee; --quiet: #a9b3bd; --line: #3b434c;
    --accent: #8cc0ff; --on-accent: #0c1a2b; --wrong: #ff9f97;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
main {
  width: 100%; max-width: 30rem; padding: 1.5rem; background: var(--sheet);
  border: 1px solid var(--line); border-radius: 0.75rem;
}
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0 0 1.5rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; margin-bottom: 0.25rem; }
input {
  width: 100%; padding: 0.625rem; margin-bottom: 1rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--quiet); border-radius: 0.375rem;
}
.action {
  display: block; width: 100%; padding: 0.75rem 1rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: 0.375rem;
}
.action:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { color: var(--wrong); }
@media (max-width: 22rem) {
  main { padding: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
`
