/** Detects text files that were not saved as UTF-8, from their text decoded as UTF-8. */

interface EncodingFault {
  /** Position of the first character that shows it. */
  offset: number
  message: string
}

/**
 * The fault of a file that is not UTF-8; null for one that is. UTF-16 shows by its zero bytes. Any
 * other encoding shows by U+FFFD, which a decoder puts in the place of bytes that are not UTF-8.
 */
export function encodingFault(text: string): EncodingFault | null {
  if (text.includes('\0')) {
    return { offset: 0, message: 'the file is UTF-16, or no text: save it as UTF-8' }
  }
  const offset = text.indexOf('\ufffd')
  if (offset < 0) return null
  return { offset, message: 'a character here is not UTF-8: save the file as UTF-8' }
}
