// Builds the page that verifies proof bundles as one self-contained file, build/console-page/verify.html.
import { defineConfig, mergeConfig } from 'vite'
import { oneFile } from './one-file.mjs'
import console from './vite.config.mjs'

export default mergeConfig(
  console,
  defineConfig({
    plugins: [oneFile()],
    build: {
      outDir: '../../../build/console-page',
      cssCodeSplit: false,
      rolldownOptions: { input: `${import.meta.dirname}/verify.html` },
    },
  }),
)
