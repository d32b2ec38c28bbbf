#!/usr/bin/env node
/** `heliograph`: generates the client of the API if it is missing, then runs the command. */
import { generateSdk } from '@heliograph/sdk/generate'

await generateSdk({ when_missing: true })
await import('./main.ts')
