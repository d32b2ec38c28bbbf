import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The pages as static files that the server serves itself: nothing comes from outside. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
})
