/** What a program of `npm start` logs, as it is printed. */
import { cutText } from '@heliograph/domain/log-line'
import { visible } from '@heliograph/server/http/visible-text'

const characters_max = 1000

/**
 * A line of a program's output in plain words behind the program's name; `as_it_is` leaves a line
 * of JSON whole. Nothing in it breaks the line or speaks to the terminal.
 */
export function logWords(name: string, line: string, as_it_is: boolean): string {
  if (as_it_is) return visible(line)
  return `${name}: ${cutText(visible(messageOf(line)), characters_max)}`
}

/** Of every line: they say nothing of the event. */
const untold = ['level', 'time', 'pid', 'hostname', 'name', 'stack']

/** `url=/v1/sites ms=812`: what the words are about. */
const fieldsOf = (fields: object): string =>
  Object.entries(fields)
    .filter(([name, value]) => !untold.includes(name) && isScalar(value))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

function messageOf(line: string): string {
  try {
    const { msg, err, ...fields } = JSON.parse(line)
    if (typeof msg !== 'string') return line
    const words = err && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg
    const told = fieldsOf(fields)
    return told === '' ? words : `${words} (${told})`
  } catch {
    return line
  }
}
