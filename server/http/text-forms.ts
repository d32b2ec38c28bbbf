/** Forms of text that are long as patterns, and what is said of a text that has another. */

/**
 * More than spaces, joiners and marks of direction. Written out, as not every validator of a schema
 * knows the classes of Unicode.
 */
const unseen =
  '\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const breaks = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'

export const textForms = {
  visible_line: {
    pattern: `^(?=.*[^${unseen}])[^${breaks}]+$`,
    message: 'must be one line with something to see',
  },
  file_name: {
    pattern: `^(?=.*[^${unseen}])[^/\\\\${breaks}]+$`,
    message: 'must be a name of a file: one line, without / and \\',
  },
  web_address: {
    pattern: '^[hH][tT][tT][pP][sS]?://[^\\s<>"/?#@\\\\]+([/?#][^\\s<>"]*)?$',
    message: 'must be an address that begins with http:// or https://, without user or password',
  },
} as const

/** What is said of a text that does not match one of the patterns. */
export const messageOfForm = (pattern: unknown): string | undefined =>
  Object.values(textForms).find((form) => form.pattern === pattern)?.message

const visible = new RegExp(`[^${unseen}]`, 'u')
export const isVisible = (text: string): boolean => visible.test(text)
