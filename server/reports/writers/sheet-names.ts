const length_max = 31

/**
 * Valid and distinct names of the sheets of a workbook: at most 31 characters, without `[]:*?/\`,
 * without an apostrophe at either end, and not "History", which Excel reserves. Case is ignored.
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

/** Cuts after a word if that leaves half of the name, else after a whole character. */
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
