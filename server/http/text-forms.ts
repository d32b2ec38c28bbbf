/** Text formats as patterns, with their messages. */

/**
 * Invisible characters: spaces, joiners, direction marks and fillers. Listed, because not every
 * JSON Schema validator supports Unicode classes.
 */
const unseen =
  '\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
const breaks = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029'

export const textForms = {
  visible_line: {
    pattern: `^(?=.*[^${unseen}])[^${breaks}]+$`,
    message: 'must be one line with a visible character',
  },
  file_name: {
    pattern: `^(?=.*[^${unseen}])[^/\\\\${breaks}]+$`,
    message: 'must be a file name: one line, without / and \\',
  },
  web_address: {
    pattern: '^[hH][tT][tT][pP][sS]?://[^\\s<>"/?#@\\\\]+([/?#][^\\s<>"]*)?$',
    message: 'must be a URL that starts with http:// or https://, without user or password',
  },
} as const

export const messageOfForm = (pattern: unknown): string | undefined =>
  Object.values(textForms).find((form) => form.pattern === pattern)?.message

const visible = new RegExp(`[^${unseen}]`, 'u')
export const isVisible = (text: string): boolean => visible.test(text)
