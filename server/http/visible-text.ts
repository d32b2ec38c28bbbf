import { unprintable } from '@heliograph/domain/log-line'

/** Escapes characters that a terminal would interpret, as `\u001b`. */
export const visible = (text: string): string =>
  text.replace(unprintable, (character) => {
    const hex = character.codePointAt(0)!.toString(16).padStart(4, '0')
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`
  })
