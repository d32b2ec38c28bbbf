import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Builds static files that the server serves; no file comes from another host. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
})
