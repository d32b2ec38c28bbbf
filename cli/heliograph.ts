#!/usr/bin/env node
/** `heliograph` in a clone: makes the client of the API if it is missing, then runs a command. */
import { generateSdk } from '@heliograph/sdk/generate'

await generateSdk({ when_missing: true })
await import('./run.ts')
