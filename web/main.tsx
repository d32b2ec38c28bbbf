import { MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import { Notifications } from '@mantine/notifications'
import '@mantine/notifications/styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { queries } from './queries.ts'
import { theme, variables } from './theme.ts'
import { watchUnfetchedCode } from './ui/page-boundary.tsx'
import './ui/ui.css'

watchUnfetchedCode()

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content

// Dialogs add a style element that stops the page from scrolling.
if (nonce) setNonce(nonce)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce ?? ''}
    >
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
