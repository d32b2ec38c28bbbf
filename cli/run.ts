/** Runs the command of this process; the client of the API is there. */
import { runCommand } from './main.ts'

const { stdin: input, stdout: output, stderr: notes } = process
const is_interactive = input.isTTY === true && notes.isTTY === true
const terminal = { input, output, notes, is_interactive }
process.exitCode = await runCommand(process.argv.slice(2), terminal)
