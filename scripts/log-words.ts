/** Log lines of the programs of `npm start`, as they are printed. */
import { cutText } from '@heliograph/domain/log-line'
import { visible } from '@heliograph/server/http/visible-text'

const characters_max = 1000

/**
 * Returns a line of a program's output in plain words after the program's name; `as_it_is` keeps a
 * line of JSON. Control characters are escaped.
 */
export function logWords(name: string, line: string, as_it_is: boolean): string {
  if (as_it_is) return visible(line)
  return `${name}: ${cutText(visible(messageOf(line)), characters_max)}`
}

/** Fields of every line, which are not printed. */
const hidden = ['level', 'time', 'pid', 'hostname', 'name', 'stack']

/** `url=/v1/sites ms=812`: the fields of the event. */
const fieldsOf = (fields: object): string =>
  Object.entries(fields)
    .filter(([name, value]) => !hidden.includes(name) && isScalar(value))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

function messageOf(line: string): string {
  try {
    const { msg, err, ...fields } = JSON.parse(line)
    if (typeof msg !== 'string') return line
    const words = err && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg
    const text = fieldsOf(fields)
    return text === '' ? words : `${words} (${text})`
  } catch {
    return line
  }
}
