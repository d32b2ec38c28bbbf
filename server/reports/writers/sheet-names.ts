/** Names that sheets of a workbook may have. */

const length_max = 31

/**
 * A name for each title, in order: at most 31 characters, none of `[]:*?/\`, no apostrophe at
 * either end, not "History", which Excel keeps for itself, and no two the same but for their case.
 */
export function sheetNames(titles: readonly string[]): string[] {
  const taken = new Set<string>(['history'])
  return titles.map((title) => {
    const plain = allowed(title)
    let name = shortened(plain, length_max)
    for (let nth = 2; taken.has(name.toLowerCase()); nth += 1) {
      const suffix = ` ${nth}`
      name = shortened(plain, length_max - suffix.length) + suffix
    }
    taken.add(name.toLowerCase())
    return name
  })
}

function allowed(title: string): string {
  const name = title
    .toWellFormed()
    .normalize('NFC')
    .replace(/[[\]:*?/\\\p{C}\ufffd]+/gu, ' ')
    .replace(/\s+/g, ' ')
  return trimmed(name) || 'Sheet'
}

/** Whole words where that leaves half of it, else whole characters: of a pair both surrogates. */
function shortened(name: string, length: number): string {
  if (name.length <= length) return name
  const blank = name.lastIndexOf(' ', length)
  if (blank >= length / 2) return trimmed(name.slice(0, blank))
  let short = ''
  for (const character of name) {
    if (short.length + character.length > length) break
    short += character
  }
  return trimmed(short)
}

const trimmed = (name: string): string => name.replace(/^[\s']+|[\s']+$/g, '')
