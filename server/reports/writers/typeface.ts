/**
 * The type that reports are set in: Roboto, for Latin, Greek and Cyrillic. It has no Hebrew,
 * Arabic, Chinese, Japanese or Korean, no emoji and no arrows: those are shown as U+FFFD.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { create, type Font } from 'fontkit'

const folder = join(dirname(createRequire(import.meta.url).resolve('pdfmake')), '../fonts/Roboto')

/** The files of each style, as pdfmake takes them. */
export const typeface = {
  normal: join(folder, 'Roboto-Regular.ttf'),
  bold: join(folder, 'Roboto-Medium.ttf'),
  italics: join(folder, 'Roboto-Italic.ttf'),
  bolditalics: join(folder, 'Roboto-MediumItalic.ttf'),
}

interface TypeSize {
  size_pt: number
  bold?: boolean
}

const normal = create(readFileSync(typeface.normal)) as Font
const bold = create(readFileSync(typeface.bold)) as Font
const advances = { normal: new Map<string, number>(), bold: new Map<string, number>() }
/** Set between the halves of a word that is too long for a line: no width, and a line may end. */
const break_here = '\u200b'

/** The width of a line of text, without kerning, which only ever makes it narrower. */
export function widthOf(text: string, { size_pt, bold: is_bold = false }: TypeSize): number {
  const [font, known] = is_bold ? [bold, advances.bold] : [normal, advances.normal]
  let units = 0
  for (const character of text) {
    let advance = known.get(character)
    if (advance === undefined) {
      advance = font.glyphForCodePoint(character.codePointAt(0)!).advanceWidth
      known.set(character, advance)
    }
    units += advance
  }
  return (units / font.unitsPerEm) * size_pt
}

/**
 * The text as it can be set: composed, without control characters but line ends, and U+FFFD for
 * what the typeface lacks, of which a run counts once. Cut after so many UTF-16 units, if said.
 */
export function settable(text: string, length_max = Number.POSITIVE_INFINITY): string {
  if (text.length > length_max) return `${settable(text.slice(0, length_max - 1)).trimEnd()}\u2026`
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === '\n' ? character : ''))
    .replace(/[^\n]/gu, (character) => (has(character) ? character : '\ufffd'))
    .replace(/\ufffd+/g, '\ufffd')
}

/** The same on one line: a hundred line ends are not to be a hundred lines. */
export const oneLine = (text: string, length_max?: number): string =>
  settable(text, length_max).replaceAll('\n', ' ').trim()

const has = (character: string): boolean => normal.hasGlyphForCodePoint(character.codePointAt(0)!)

/** The text with places to break in words that are wider than a line of `width_pt`. */
export function breakable(text: string, width_pt: number, type: TypeSize): string {
  if (widthOf(text, type) <= width_pt) return text
  return text.replace(/[^\s\u200b]+/g, (word) => {
    if (widthOf(word, type) <= width_pt) return word
    let broken = ''
    let width = 0
    for (const character of word) {
      const advance = widthOf(character, type)
      if (width + advance > width_pt) {
        broken += break_here
        width = 0
      }
      broken += character
      width += advance
    }
    return broken
  })
}

/** At most as wide as said, with an ellipsis where it is cut. */
export function fitted(text: string, width_pt: number, type: TypeSize): string {
  if (widthOf(text, type) <= width_pt) return text
  const characters = [...text]
  while (characters.length > 1 && widthOf(`${characters.join('')}\u2026`, type) > width_pt) {
    characters.pop()
  }
  return `${characters.join('').trimEnd()}\u2026`
}
