// Bundles the console into build/console, from where the server reads it. Every name but that of the page holds a hash.
import { defineConfig } from 'vite'
import { leanUplot } from './lean-uplot.mjs'

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the console works below any path of a proxy.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  plugins: [leanUplot()],
  // JSX compiles to calls of Preact, as tsconfig.json says.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../build/console',
    emptyOutDir: true,
    target: 'es2022',
    // Browsers that know light-dark(). For older ones it would be replaced by what follows the system alone, not who chose.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // It would need a script in the page, which the content security policy refuses.
    modulePreload: false,
    // The policy has no data: addresses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
