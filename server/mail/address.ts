const characters_max = 254
const local_characters_max = 64

const local = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const label = /^[A-Za-z\d]([A-Za-z\d-]{0,61}[A-Za-z\d])?$/

/**
 * Whether a text is one mail address and nothing else: `name@host`, both parts as RFC 5321 has
 * them (dot-string, labels), at most 254 characters. No display name, comment, quotes, address
 * literal, list or control character, so that it can stand in a header as it is.
 *
 * ASCII only: mailboxes of other letters need SMTPUTF8 at every server on the way, and a mail that
 * bounces there tells nobody. A domain of other letters is written in its `xn--` form.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > characters_max) return false
  const [name = '', domain = '', ...more] = text.split('@')
  return (
    more.length === 0 &&
    name.length <= local_characters_max &&
    local.test(name) &&
    domain.split('.').every((part) => label.test(part))
  )
}
