#!/usr/bin/env node
/** `heliograph`: generates the client of the API if it is missing, then runs the command. */
import { generateSdk } from '@heliograph/sdk/generate'

await generateSdk({ when_missing: true })
const { runCommand } = await import('./main.ts')
const { stdin: input, stdout: output, stderr: notes } = process
const is_interactive = input.isTTY === true && notes.isTTY === true
const terminal = { input, output, notes, is_interactive }
process.exitCode = await runCommand(process.argv.slice(2), terminal)
