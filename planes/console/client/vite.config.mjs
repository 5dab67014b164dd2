// Bundles the console into build/console, from where the server reads it. Every name but that of the page holds a hash.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the console works below any path of a proxy.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  // JSX compiles to calls of Preact, as tsconfig.json says.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../build/console',
    emptyOutDir: true,
    target: 'es2022',
    // It would need a script in the page, which the content security policy refuses.
    modulePreload: false,
    // The policy has no data: addresses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
