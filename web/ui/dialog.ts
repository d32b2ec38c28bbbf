/** For every `Modal`: its parts have names, and its header is not taken for that of the page. */
export const dialog = {
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'none' } },
}
