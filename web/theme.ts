import { Alert, Badge, type CSSVariablesResolver, createTheme, Notification } from '@mantine/core'

/** Colours are chosen so that text on them and of them has enough contrast in both schemes. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  defaultRadius: 'md',
  components: {
    // The frame has the colour, its text is that of the page.
    Alert: Alert.extend({
      styles: (_, { variant }) =>
        variant === 'outline' ? { title: { color: 'var(--mantine-color-text)' } } : {},
    }),
    // Its text is that of the page; the dot has the colour.
    Badge: Badge.extend({
      defaultProps: { variant: 'dot', tt: 'none' },
      // Gray is nearly that of a dark page.
      vars: (_, { color }) => ({
        dot: {},
        root: color === 'gray' ? { '--badge-dot-color': 'var(--mantine-color-dimmed)' } : {},
      }),
    }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
    }),
  },
})

/** Text that is less important, or says what is wrong, is read as well. */
export const variables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
    '--mantine-color-error': colors.red[4],
  },
})
