import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * Few files for the first load of a page, without tables and forms that it does not need. A group
 * takes everything that its modules import, except what an earlier group has taken.
 */
const groups = [
  { name: 'start', tags: ['$initial' as const] },
  {
    name: 'shared',
    test: /@mantine.hooks|pages.*\.ts$|ui.[\w-]+\.ts$|ui.(badges|devices)\.tsx$/,
    minShareCount: 2,
  },
  {
    name: 'tables',
    test: /ui.(data-table|filters|form)\.tsx$/,
  },
  {
    name: 'forms',
    test: /node_modules.(@mantine|react-number-format)|ui.(fields|inputs|days)\.tsx$/,
    minShareCount: 4,
  },
]

/** Builds static files that the server serves; no file comes from another host. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
})
