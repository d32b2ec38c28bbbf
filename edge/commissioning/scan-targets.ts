/** Addresses, ports and unit ids of a scan as an operator writes them. */
import { isIPv4 } from 'node:net'

/** A network of 4096 addresses at most. */
const prefix_min = 20

/**
 * Each address of `192.168.1.0/24` without those of the network and of its broadcast; any other
 * text is one host.
 *
 * @throws Error for a network that is too large or no network
 */
export function hostsOf(text: string): string[] {
  const [address = '', prefix, ...rest] = text.split('/')
  if (prefix === undefined) {
    if (/^[\w.:-]+$/.test(text)) return [text]
    throw new Error(`${text} is no host`)
  }
  const bits = Number(prefix)
  if (rest.length > 0 || !isIPv4(address) || !/^\d+$/.test(prefix) || bits > 32) {
    throw new Error(`${text} is no network such as 192.168.1.0/24`)
  }
  if (bits < prefix_min) throw new Error(`${text} is too large: /${prefix_min} is the largest`)
  const size = 2 ** (32 - bits)
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const first = Math.floor(number / size) * size
  const all = Array.from({ length: size }, (_, nth) => dotted(first + nth))
  return size > 2 ? all.slice(1, -1) : all
}

const dotted = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/**
 * Each number of `1-5,7`, in that order.
 *
 * @throws Error for a number out of `min` to `max`
 */
export function numbersOf(text: string, { min, max }: { min: number; max: number }): number[] {
  const numbers = text.split(',').flatMap((part) => {
    const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(part.trim()) ?? []
    const [first, last] = [Number(from), Number(to)]
    if (from === '' || first < min || last > max || first > last) {
      throw new Error(`'${part}' is no number or range from ${min} to ${max}`)
    }
    return Array.from({ length: last - first + 1 }, (_, nth) => first + nth)
  })
  return [...new Set(numbers)]
}
